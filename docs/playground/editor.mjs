// The editor and the colors of code. Both are CodeMirror's, which esbuild puts into one file.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { cppLanguage } from "@codemirror/lang-cpp";
import { pythonLanguage } from "@codemirror/lang-python";
import { yaml, yamlLanguage } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter, highlightCode } from "@lezer/highlight";

const LANGUAGES = { py: pythonLanguage, pyi: pythonLanguage, h: cppLanguage, cpp: cppLanguage, yaml: yamlLanguage };
const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)" },
  "&.cm-focused": { outline: "2px solid var(--link)" },
  ".cm-scroller": { font: "var(--code)" },
  ".cm-gutters": { color: "var(--pale)", backgroundColor: "var(--panel)", borderColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--chosen)" },
  ".cm-content": { caretColor: "var(--ink)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--chosen)", outline: "1px solid var(--field)" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--panel)", borderColor: "var(--field)" },
  ".cm-diagnosticAction": { color: "inherit", backgroundColor: "var(--paper)", border: "1px solid var(--field)" },
});

// An editor of YAML in an element. `changed` is called after its text has changed.
export function makeEditor(parent, attributes, changed) {
  const view = new EditorView({
    parent,
    extensions: [
      lineNumbers(),
      lintGutter(),
      history(),
      bracketMatching(),
      indentOnInput(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      yaml(),
      syntaxHighlighting(classHighlighter),
      LOOK,
      // Tab leaves the editor, as readers without a mouse need it.
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
      EditorView.contentAttributes.of(attributes),
      EditorView.updateListener.of((update) => update.docChanged && changed()),
    ],
  });
  const text = () => view.state.doc.toString();
  const replace = (from, to, insert) => view.dispatch({ changes: { from, to, insert } });
  return {
    text,
    replace,
    setText(insert) {
      if (text() === insert) return;
      const changes = { from: 0, to: view.state.doc.length, insert };
      view.dispatch({ changes, selection: { anchor: 0 }, scrollIntoView: true });
    },
    // Each has the place `from` and `to`, a severity, a message, and actions with a name.
    mark: (diagnostics) => view.dispatch(setDiagnostics(view.state, diagnostics)),
    select(anchor, head) {
      view.focus();
      view.dispatch({ selection: { anchor, head }, scrollIntoView: true });
    },
  };
}

// The lines of a file, as elements whose parts have classes such as `tok-keyword`.
export function coloredLines(text, path) {
  const language = LANGUAGES[path.split(".").pop()];
  const lines = [];
  const next = () => lines.push(Object.assign(document.createElement("span"), { className: "line" }));
  const put = (code, classes) => {
    const part = classes ? Object.assign(document.createElement("span"), { className: classes }) : lines.at(-1);
    part.append(code);
    if (classes) lines.at(-1).append(part);
  };
  const end = () => {
    lines.at(-1).append("\n");
    next();
  };
  next();
  if (language) highlightCode(text, language.parser.parse(text), classHighlighter, put, end);
  else text.split("\n").forEach((line, number) => (number && end(), put(line, "")));
  if (!lines.at(-1).hasChildNodes()) lines.pop();
  return lines;
}
