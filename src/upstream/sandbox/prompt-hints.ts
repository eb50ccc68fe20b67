// What a prompt offers to fill arguments with: the things it names, its numbers, its telling words.

export type PromptHints = {
  /** The prompt itself, shortened. */
  readonly phrase: string;
  /** Things named: quoted, addresses, files, names, and what stands on both sides of "and"; in that order. */
  readonly subjects: readonly string[];
  readonly numbers: readonly number[];
  /** Lower-case words that say something, in order. */
  readonly words: readonly string[];
};

/** What a person asks is at the front or short; the rest is material. */
const MAX_READ = 2000;
const MAX_PHRASE = 120;

const QUOTED = /"([^"\n]{1,100})"|“([^”\n]{1,100})”|`([^`\n]{1,100})`/g;
const ADDRESS = /\bhttps?:\/\/[^\s"'<>)]{1,200}|[\w.-]{1,60}@[\w-]{1,60}\.\w{2,20}/g;
const FILE = /(?<![\w/.])[\w.~-]{0,60}(?:\/[\w.-]{1,60}){1,10}|(?<![\w/.])[\w-]{1,60}\.[a-z]{1,5}\b/g;
const NAME = /(?<=[\p{L}\d,;:]\s)\p{Lu}[\p{L}\d'-]{1,40}(?:\s\p{Lu}[\p{L}\d'-]{1,40}){0,3}/gu;
const PAIR = /([\p{L}\d'-]{2,40})\s+and\s+([\p{L}\d'-]{2,40})/giu;

export function readPromptHints(prompt: string): PromptHints {
  const text = prompt.slice(0, MAX_READ).trim();
  const found = [QUOTED, ADDRESS, FILE, NAME, PAIR].flatMap((pattern) => matches(text, pattern));
  return {
    phrase: shorten(text, MAX_PHRASE),
    subjects: [...new Set(found)],
    numbers: matches(text, /(?<![\w.])-?\d{1,15}(?:\.\d{1,10})?/g).map(Number),
    words: tellingWords(text),
  };
}

/** Cut at `max` characters with a mark; line ends become spaces. */
export function shorten(text: string, max: number): string {
  const line = text
    .slice(0, max * 4)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= max) return line;
  const cut = line.slice(0, max - 1);
  // Half a surrogate pair is no character.
  return `${cut.replace(/[\ud800-\udbff]$/, '').trimEnd()}…`;
}

/** Lower-case words of three letters or more, without those any sentence has; plural and -ing endings are taken off. */
export function tellingWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\d]{3,40}/gu) ?? [];
  return words.filter((word) => !COMMON.has(word)).map(stem);
}

/** Crude on purpose: it only has to bring "searching" and "search", "files" and "file" together. */
function stem(word: string): string {
  if (word.length > 6 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1);
  return word;
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([whole, ...groups]) => {
    const captured = groups.filter((group) => group !== undefined);
    return captured.length > 0 ? captured : [whole];
  });
}

const COMMON = new Set(
  (
    'the and for are but not you your can with this that these those what which who whom how when where why was were will ' +
    'would could should shall may might must have has had does did doing done been being from into onto over under about ' +
    'please thanks thank tell give show make get let use using used some any all both each more most other than then ' +
    'there here its their his her our out one two just also very like want need know'
  ).split(' '),
);
