extension TimelinePage {
    /// The style of the page, in light and in dark mode.
    static let style = """
        :root {
          color-scheme: light dark;
          --paper: #ffffff; --sheet: #f6f7f9; --ink: #1d2330; --faint: #667085; --line: #dfe3ea;
          --hop: #475067; --depth: #b9c1cf; --chosen: #d92d20;
          --lane0: #3565c9; --lane1: #137f70; --lane2: #b75c0f; --lane3: #7a48bd; --lane4: #b7304a; --lane5: #437d22;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #12151b; --sheet: #191d25; --ink: #e6e9ef; --faint: #98a2b3; --line: #2c323d;
            --hop: #aab3c5; --depth: #48526a; --chosen: #ff8a7a;
            --lane0: #7ba2f5; --lane1: #4cc2ae; --lane2: #eb9c55; --lane3: #b795ee; --lane4: #ef8097; --lane5: #93c96c;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 16px; max-width: 1600px; background: var(--paper); color: var(--ink);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
        }
        h1 { font-size: 20px; margin: 0; overflow-wrap: anywhere; }
        h2 { font-size: 16px; margin: 24px 0 8px; }
        header p { margin: 2px 0 12px; color: var(--faint); }
        .empty { padding: 48px 16px; text-align: center; color: var(--faint); background: var(--sheet); border-radius: 8px; }
        .bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 8px; }
        button {
          font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--line); border-radius: 6px;
          padding: 5px 12px; min-height: 34px; cursor: pointer;
        }
        button:hover { border-color: var(--faint); }
        #note { color: var(--faint); font-size: 12px; }
        .box {
          position: relative; overflow-x: hidden; overflow-y: auto; background: var(--sheet);
          border: 1px solid var(--line); border-radius: 8px;
        }
        .room { position: absolute; top: 0; width: 1px; }
        canvas { position: sticky; top: 0; display: block; width: 100%; cursor: grab; touch-action: pan-y; }
        canvas:active { cursor: grabbing; }
        canvas:focus-visible, button:focus-visible { outline: 2px solid var(--lane0); outline-offset: -2px; }
        .legend { color: var(--faint); font-size: 12px; margin: 6px 0; display: flex; flex-wrap: wrap; gap: 4px 16px; }
        .legend i { display: inline-block; width: 18px; height: 10px; margin-right: 4px; }
        .legend span { white-space: nowrap; }
        .legend .run { background: var(--lane0); border-radius: 2px; }
        .legend .wait { height: 0; vertical-align: middle; border-top: 2px dashed var(--chosen); }
        .legend .depth { background: var(--depth); }
        .legend .never { border: 1px solid var(--faint); }
        .facts dl { margin: 0; display: grid; grid-template-columns: max-content 1fr; gap: 1px 12px; }
        .facts dt { color: var(--faint); }
        .facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
        .facts strong { display: block; margin-bottom: 4px; overflow-wrap: anywhere; }
        .tip {
          position: fixed; z-index: 2; max-width: min(340px, 92vw); padding: 10px 12px; pointer-events: none; font-size: 13px;
          background: var(--paper); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 4px 16px #0003;
        }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
        table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
        th, td { padding: 5px 7px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
        thead th { font-weight: 600; color: var(--faint); background: var(--sheet); }
        thead th[colspan] { text-align: center; }
        th:first-child { padding-left: 12px; }
        td:last-child, tr:first-child th:last-child { padding-right: 12px; }
        tbody tr:last-child > * { border-bottom: 0; }
        th:first-child { text-align: left; }
        tbody th {
          position: sticky; left: 0; background: var(--paper); font-weight: 600; white-space: normal;
          overflow-wrap: anywhere; min-width: 130px; max-width: 300px;
        }
        thead tr + tr th:first-child { text-align: right; }
        small { color: var(--faint); font-weight: 400; }
        @media (max-width: 600px) {
          body { padding: 10px; }
          tbody th { min-width: 96px; max-width: 40vw; }
        }
        """
}
