// One pooled connection that can tell a call whether an earlier answer already came over it.

import { Client, type Dispatcher } from 'undici';

/** A call that wants to know; handed over with its dispatch options, since undici wraps the handler on the way. */
export type ReuseAware = { connection: ReuseClient | undefined };
export type ReuseAwareOptions = Dispatcher.DispatchOptions & { readonly call: ReuseAware };

/** undici's own client plus a count of the answers that ended well since the socket was opened. */
export class ReuseClient extends Client {
  answered = 0;

  constructor(origin: URL, options: Client.Options) {
    super(origin, options);
    this.on('disconnect', () => {
      this.answered = 0;
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // Only a `createHttpUpstream` pool makes these clients, and it always adds `call`.
    (options as ReuseAwareOptions).call.connection = this;
    return super.dispatch(options, handler);
  }
}
