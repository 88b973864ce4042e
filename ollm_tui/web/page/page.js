// The page of `ollm serve`: a terminal, the websocket of its tab, and the keys that browsers change.
import { Terminal } from "./xterm/xterm.mjs";
import { FitAddon } from "./xterm/addon-fit.mjs";
import { Unicode11Addon } from "./xterm/addon-unicode11.mjs";
import { WebLinksAddon } from "./xterm/addon-web-links.mjs";

const ENDED = 4000, TAKEN = 4001, REFUSED = 4002;
const TOLD_AFTER_BYTES = 65536;
const LONGEST_PIECE = 32768;
const ROWS_A_NOTCH = 2;
const KEYS = {
  "Escape": "\x1b", "Tab": "\t", "Up": "\x1b[A", "Down": "\x1b[B",
  "PageUp": "\x1b[5~", "PageDown": "\x1b[6~", "Ctrl+P": "\x10", "Ctrl+N": "\x0e", "Ctrl+T": "\x14",
  "F1": "\x1bOP", "F3": "\x1bOR", "F4": "\x1bOS",
};
// Without these a browser or xterm.js would send another key: Ctrl+Up, or an Enter that sends.
const OWN_KEYS = {
  "Alt+ArrowUp": "\x1b[1;3A", "Alt+ArrowDown": "\x1b[1;3B",
  "Alt+ArrowRight": "\x1b[1;3C", "Alt+ArrowLeft": "\x1b[1;3D",
  "Shift+Enter": "\x1b[13;2u", "Control+Enter": "\x1b[13;5u",
};

const notice = document.querySelector("#notice");
const isReadOnly = document.body.classList.contains("read-only");
const terminal = new Terminal({
  allowProposedApi: true,
  cursorBlink: false,
  cursorInactiveStyle: "none",
  fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
  fontSize: window.innerWidth < 700 ? 12 : 14,
  linkHandler: { activate: (_, address) => openLink(address) },
  macOptionClickForcesSelection: true,
  scrollback: 0,
  theme: { background: "#16181d", foreground: "#d5d8df" },
});
const fit = new FitAddon();
terminal.loadAddon(fit);
terminal.loadAddon(new Unicode11Addon());
terminal.unicode.activeVersion = "11";
terminal.loadAddon(new WebLinksAddon((_, address) => openLink(address)));

let socket = null;
let failures = 0;
let shown = 0;
let waits = null;

// The tab

function tabName() {
  let name = sessionStorage.getItem("tab");
  if (!name) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    name = Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
    sessionStorage.setItem("tab", name);
  }
  return name;
}

function connect() {
  clearTimeout(waits);
  if (socket) return;
  const address = new URL("tab", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  address.search = new URLSearchParams({
    name: tabName(), size: `${terminal.cols}x${terminal.rows}`,
  });
  socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => { failures = 0; shown = 0; tell(""); terminal.focus(); };
  socket.onmessage = event => show(new Uint8Array(event.data));
  socket.onclose = event => { socket = null; lose(event); };
}

function lose(event) {
  if (event.code === ENDED) {
    tell("The program has ended. Enter starts it again.");
  } else if (event.code === TAKEN) {
    tell("Another page shows this tab. Enter brings it back here.");
  } else if (event.code === REFUSED) {
    tell(`Not started: ${event.reason}. Enter tries again.`);
  } else {
    failures += 1;
    tell("No connection to ollm serve. Trying again …");
    waits = setTimeout(connect, Math.min(5000, 250 * failures));
  }
}

function tell(words) {
  notice.textContent = words;
  notice.hidden = !words;
}

function order(what) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(what));
}

function show(bytes) {
  const from = socket;
  terminal.write(bytes, () => {
    if (from !== socket) return;
    shown += bytes.length;
    if (shown >= TOLD_AFTER_BYTES) {
      order({ read: shown });
      shown = 0;
    }
  });
}

function send(bytes) {
  for (let at = 0; at < bytes.length; at += LONGEST_PIECE) {
    socket.send(bytes.subarray(at, at + LONGEST_PIECE));
  }
}

function type(keys) {
  if (socket?.readyState === WebSocket.OPEN) send(new TextEncoder().encode(keys));
  else if (!socket && keys === "\r") connect();
}

// Keys, pastes, copies, links

function nameOf(event) {
  const held = ["Control", "Alt", "Shift", "Meta"].filter(name => event.getModifierState(name));
  return [...held, event.key].join("+");
}

function takesKey(event) {
  if (event.type !== "keydown") return true;
  const name = nameOf(event);
  if (name in OWN_KEYS) {
    event.preventDefault();
    type(OWN_KEYS[name]);
    return false;
  }
  if (/^(Control|Meta)\+c$/i.test(name) && terminal.hasSelection()) {
    copy(terminal.getSelection());
    terminal.clearSelection();
    event.preventDefault();
    return false;
  }
  // Left to the browser, which pastes.
  return !/^(Control|Meta)(\+Shift)?\+v$/i.test(name);
}

// Without escapes: a paste that holds the end of a paste would go on as keys.
function paste(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
  const text = event.clipboardData?.getData("text/plain") ?? "";
  terminal.paste(text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, ""));
}

function copy(text) {
  if (navigator.clipboard) navigator.clipboard.writeText(text).catch(cannotCopy);
  else cannotCopy();
}

function cannotCopy() {
  tell("The browser allows no copying here: it needs https, or this computer itself.");
  setTimeout(() => tell(""), 5000);
}

// The program copies by OSC 52. It may write to the clipboard; what is in it stays unread.
function copyForProgram(data) {
  const [, coded] = data.split(";");
  if (coded === undefined || coded === "?") return true;
  try {
    copy(new TextDecoder().decode(Uint8Array.from(atob(coded), letter => letter.charCodeAt(0))));
  } catch { /* no base64: there is nothing to copy */ }
  return true;
}

function openLink(address) {
  if (/^https?:\/\//i.test(address)) window.open(address, "_blank", "noopener,noreferrer");
}

// A finger scrolls as the wheel of a mouse does: xterm.js itself has nothing to scroll here.
const screen = document.querySelector("#terminal");
let finger = null;

function touch(event) {
  finger = event.touches.length === 1 ? event.touches[0].clientY : null;
}

function drag(event) {
  if (finger === null) return;
  event.preventDefault();
  const box = screen.getBoundingClientRect(), row = box.height / terminal.rows;
  const { clientX, clientY } = event.touches[0];
  const notches = Math.trunc((clientY - finger) / row / ROWS_A_NOTCH);
  if (!notches) return;
  finger += notches * row * ROWS_A_NOTCH;
  const at = (part, whole, cells) => Math.min(cells, Math.max(1, Math.ceil(part / whole * cells)));
  const column = at(clientX - box.left, box.width, terminal.cols);
  const line = at(clientY - box.top, box.height, terminal.rows);
  type(`\x1b[<${notches > 0 ? 64 : 65};${column};${line}M`.repeat(Math.abs(notches)));
}

// Beginning

terminal.open(screen);
fit.fit();
terminal.attachCustomKeyEventHandler(takesKey);
terminal.onData(type);
terminal.onBinary(data => {
  if (socket?.readyState !== WebSocket.OPEN) return;
  send(Uint8Array.from(data, letter => letter.charCodeAt(0)));
});
terminal.onResize(({ cols, rows }) => order({ size: [cols, rows] }));
terminal.parser.registerOscHandler(52, copyForProgram);
document.addEventListener("paste", paste, { capture: true });
new ResizeObserver(() => fit.fit()).observe(screen);
screen.addEventListener("touchstart", touch, { passive: true });
screen.addEventListener("touchmove", drag, { passive: false });
window.addEventListener("focus", () => terminal.focus());
window.addEventListener("online", connect);
document.addEventListener("visibilitychange", () => { if (waits && !socket) connect(); });
for (const button of document.querySelectorAll("#keys button")) {
  // The keyboard of a phone stays as it is: open or closed.
  button.addEventListener("pointerdown", event => event.preventDefault());
  button.addEventListener("click", () => type(KEYS[button.dataset.keys]));
}
if (isReadOnly) terminal.textarea.setAttribute("readonly", "");
connect();
