// Names of others, made harmless for people: they may hold any character and be long.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const picture = (character) => {
  const code = character.codePointAt(0);
  if (code < 32) return String.fromCharCode(0x2400 + code);
  if (code === 127) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
};

// The text with a visible sign for each character that is invisible or changes the direction of writing.
export const visible = (text) => String(text ?? "").replace(HIDDEN, picture);

export const cut = (text, longest) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

export const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;

export const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

export const percent = (share) => `${(share * 100).toFixed(share >= 0.0995 ? 1 : 2)}%`;

// A word of a command line in quotes of the shell.
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

// A command about one kernel. `--kernel` takes a regular expression over full names, or the readable name as it is; so a name
// is escaped only if it would mean something else. A name that was cut or cleaned cannot be asked for.
export const kernelCommand = (query, input, name) => {
  if (name !== visible(name) || /…$|⟨U\+|[\u2400-\u2421]/.test(name) || name.length > 1000) return "";
  const pattern = /[\\^$|?*+()[\]{}]/.test(name) ? `^${name.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&")}$` : name;
  return `wavesieve table ${query} ${input || "INPUT"} --kernel ${quoted(pattern)}`;
};
