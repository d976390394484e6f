/**
 * A mail server for tests: real SMTP on a free loopback port, with mail kept in memory. With an account it
 * requires authentication.
 */
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export type ReceivedMail = { from: string; to: string[]; subject: string; text: string }

export type MailServer = {
  /** `smtp://…`, including the account if there is one. */
  url: string
  /** In order of arrival. */
  readonly received: readonly ReceivedMail[]
  /** Returns the next mail to this address that was not returned before, waiting for it if needed. */
  next(to: string): Promise<ReceivedMail>
  close(): Promise<void>
}

export async function startMailServer(
  options: { account?: { user: string; password: string } } = {},
): Promise<MailServer> {
  const { account } = options
  const received: ReceivedMail[] = []
  const returned = new Set<ReceivedMail>()
  let arrived = Promise.withResolvers<void>()

  const server = new SMTPServer({
    // No STARTTLS: the library's certificate is public, so clients rightly refuse it.
    disabledCommands: account ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    allowInsecureAuth: true,
    logger: false,
    onAuth(auth, _session, done) {
      const isRight = auth.username === account?.user && auth.password === account?.password
      if (isRight) done(null, { user: auth.username ?? '' })
      else done(new Error('wrong account'))
    },
    onData(stream, session, done) {
      receive(stream, session.envelope.rcptTo).then(() => done(), done)
    },
  })
  async function receive(stream: NodeJS.ReadableStream, recipients: readonly { address: string }[]) {
    const parsed = await PostalMime.parse(await readText(stream))
    received.push({
      from: parsed.from?.address ?? '',
      to: recipients.map(({ address }) => address),
      subject: parsed.subject ?? '',
      text: parsed.text ?? '',
    })
    arrived.resolve()
    arrived = Promise.withResolvers<void>()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The server listens on an address, not on a pipe.
  const { port } = server.server.address() as AddressInfo
  const credentials = account
    ? `${encodeURIComponent(account.user)}:${encodeURIComponent(account.password)}@`
    : ''

  return {
    url: `smtp://${credentials}127.0.0.1:${port}`,
    received,
    async next(to) {
      for (;;) {
        const found = received.find((mail) => mail.to.includes(to) && !returned.has(mail))
        if (found) {
          returned.add(found)
          return found
        }
        await arrived.promise
      }
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
