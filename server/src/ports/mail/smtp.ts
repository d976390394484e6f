import { checkMail, type Mailer, MailFailed } from './port.ts'

/** A person waits for the code, so longer attempts are useless. */
const timeoutMs = 20_000

/**
 * Sends mail through `smtp://[user:password@]host[:port]` or `smtps://`. Without `smtps` the connection uses
 * STARTTLS if the server offers it; passwords to other machines require it. Loads the library with the first
 * mail.
 */
export function smtpMailer(url: URL, from: string): Mailer {
  const isTls = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const user = decodeURIComponent(url.username)
  const options = {
    host,
    port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
    secure: isTls,
    requireTLS: !isTls && user !== '' && !isLoopback(host),
    // Certificates do not cover loopback names.
    tls: { rejectUnauthorized: !isLoopback(host) },
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  return {
    kind: 'smtp',
    async send(mail) {
      checkMail(mail)
      try {
        const { createTransport } = await import('nodemailer')
        await createTransport(options).sendMail({ from, ...mail })
      } catch (cause) {
        throw new MailFailed(`The mail server ${url.host} did not take the mail.`, { cause })
      }
    },
    async close() {},
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}
