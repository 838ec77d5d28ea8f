window.onerror = function (message, file, line) {
  document.documentElement.dataset.error = message + " (" + line + ")";
};
