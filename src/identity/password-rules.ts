// What a new password must be: long enough; what it is made of is its owner's business.

const PASSWORD_LENGTH_MIN = 8;
/** Bounds the work of one hash; far above what a password manager makes. */
const PASSWORD_LENGTH_MAX = 1024;

/** What is wrong with a new password, as a sentence for people; undefined when nothing is. Never quotes it. */
export function passwordProblem(password: string): string | undefined {
  if (password.length > PASSWORD_LENGTH_MAX) return `The password is longer than ${PASSWORD_LENGTH_MAX} characters.`;
  // Counted as people count: an emoji is one character.
  if ([...password].length < PASSWORD_LENGTH_MIN) {
    return `The password is shorter than ${PASSWORD_LENGTH_MIN} characters; a few random words make a good one.`;
  }
  return undefined;
}
