/**
 * Outgoing mail: plain text to one person. The adapter determines the sender. Every failure is `MailFailed`.
 */
export type Mailer = {
  readonly kind: 'smtp' | 'file' | 'log' | 'fake'
  /** Resolves once the mail was delivered to the next server or written to its file. */
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}

/** `to` is one address; `subject` is one line. */
export type Mail = { to: string; subject: string; text: string }

/** The message never contains the mail's text, which may contain a code. */
export class MailFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MailFailed'
  }
}

/** Throws `MailFailed` for input that could add recipients or headers. */
export function checkMail({ to, subject }: Mail): void {
  if (!/^[^\s,;<>@"]+@[^\s,;<>@"]+$/.test(to)) throw new MailFailed('The recipient is not one address.')
  if (/[\r\n]/.test(subject)) throw new MailFailed('The subject is not one line.')
}
