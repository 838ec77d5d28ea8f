# Makes each "law 7" and "laws 4 and 7" of a text a link to the article of that law. Code and links stay as they are.
# The text is a page, or with json=1 the doc comments of a symbol graph that is printed a value a line.
# prefix=<text> is the address of an article without its number.
function linked(text,    done, found, end, list) {
    done = ""
    while (match(text, /```|`[^`]*`|\[[^]]*\]\([^)]*\)|(^|\n)#[^\n]*|[Ll]aws?[ \n]+[0-9]+/)) {
        found = substr(text, RSTART, RLENGTH)
        done = done substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (found == "```") {
            end = index(text, "```")
            if (!end) end = length(text) + 1
            found = found substr(text, 1, end + 2)
            text = substr(text, end + 3)
        } else if (found ~ /^[Ll]aw[ \n]/ && done !~ /[A-Za-z0-9_]$/) {
            found = link(found)
        } else if (found ~ /^[Ll]aws[ \n]/ && done !~ /[A-Za-z0-9_]$/) {
            match(found, /[0-9]+$/)
            list = substr(found, 1, RSTART - 1) link(substr(found, RSTART))
            while (match(text, /^(,|,?[ \n]+(and|to|or))[ \n]+[0-9]+/)) {
                found = substr(text, 1, RLENGTH)
                text = substr(text, RLENGTH + 1)
                match(found, /[0-9]+$/)
                list = list substr(found, 1, RSTART - 1) link(substr(found, RSTART))
            }
            found = list
        }
        done = done found
    }
    return done text
}
function link(words,    number) {
    number = words
    gsub(/[^0-9]/, "", number)
    return "[" words "](" prefix number ")"
}
# A law may stand on two lines of a comment, so the lines of one comment are one text.
function finish(    i, texts) {
    if (!count) return
    split(linked(comment), texts, "\n")
    for (i = 1; i <= count; i++) {
        match(lines[place[i]], /^ *"text": "/)
        lines[place[i]] = substr(lines[place[i]], 1, RLENGTH) texts[i] "\""
    }
    count = 0
    comment = ""
}
{ lines[NR] = $0 }
json && /^ *"docComment":/ { finish() }
json && /^ *"text": "/ {
    text = $0
    sub(/^ *"text": "/, "", text)
    sub(/"$/, "", text)
    comment = count++ ? comment "\n" text : text
    place[count] = NR
}
!json { comment = NR == 1 ? $0 : comment "\n" $0 }
END {
    if (!json) { print linked(comment); exit }
    finish()
    for (i = 1; i <= NR; i++) print lines[i]
}
