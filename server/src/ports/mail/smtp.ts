import { createTransport } from 'nodemailer'
import { checkMail, type Mailer, MailFailed } from './port.ts'

/** A person waits for the code: what takes longer is of no use any more. */
const timeoutMs = 20_000

/**
 * Hands mail to a server at `smtp://[user:password@]host[:port]` or `smtps://`. Without `smtps` the
 * connection is encrypted when the server offers it, and a password is sent to another machine in no other way.
 */
export function smtpMailer(url: URL, from: string): Mailer {
  const isTls = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const user = decodeURIComponent(url.username)
  const transport = createTransport({
    host,
    port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
    secure: isTls,
    requireTLS: !isTls && user !== '' && !isLoopback(host),
    // The certificate of the own machine names no such host.
    tls: { rejectUnauthorized: !isLoopback(host) },
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    kind: 'smtp',
    async send(mail) {
      checkMail(mail)
      try {
        await transport.sendMail({ from, ...mail })
      } catch (cause) {
        throw new MailFailed(`The mail server ${url.host} did not take the mail.`, { cause })
      }
    },
    async close() {
      transport.close()
    },
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}
