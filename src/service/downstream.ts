// The client's side of an answer, as the service sees it: a head once, then bytes, with back-pressure.

export interface Downstream {
  /** Sent with the head, whatever the answer is; services add to it (routing, rate limits). Lower-case names. */
  readonly headers: Record<string, string>;
  /** True once the head is out: from here on an error can only be an event in the stream. */
  readonly begun: boolean;
  /** True once the client has gone or the answer has ended. */
  readonly closed: boolean;
  /** Writes the head. Once. */
  begin(status: number, contentType: string, contentLength?: number): void;
  /** False asks the writer to pause until `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Ends the answer; resolves nothing, never throws. */
  end(bytes?: Uint8Array): void;
  onDrain(resume: () => void): void;
  /** Called once, when the client leaves before the answer has ended. */
  onGone(gone: () => void): void;
}
