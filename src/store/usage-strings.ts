// The dictionary of the usage index: the few names that rows repeat, each kept once and numbered.

/** Numbers count from 1 in the order of arrival and never change; 0 stands for no name. */
export class UsageStrings {
  readonly #strings: string[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(strings: readonly string[] = []) {
    for (const string of strings) this.numberFor(string);
    if (this.#strings.length !== strings.length) throw new Error('the dictionary has a name twice');
  }

  /** Live: grows at its end as names arrive. */
  list(): readonly string[] {
    return this.#strings;
  }

  /** Takes the name in where it is new. */
  numberFor(string: string | null): number {
    if (string === null) return 0;
    const known = this.#numbers.get(string);
    if (known !== undefined) return known;
    const number = this.#strings.push(string);
    this.#numbers.set(string, number);
    return number;
  }

  /** Undefined for a name no row has. */
  find(string: string): number | undefined {
    return this.#numbers.get(string);
  }

  /** Null for 0. */
  nameOf(number: number): string | null {
    return this.#strings[number - 1] ?? null;
  }
}
