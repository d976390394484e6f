/**
 * Outgoing mail: plain text to one person. The sender's address belongs to the adapter, which was opened with
 * it. Every failure is `MailFailed`.
 */
export type Mailer = {
  readonly kind: 'smtp' | 'file' | 'log' | 'fake'
  /** Resolves once the mail was handed over: the next server has taken it, or it lies where it should. */
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}

/** `to` is one address; `subject` one line. */
export type Mail = { to: string; subject: string; text: string }

/** Says why without the text of the mail: that may hold a code. */
export class MailFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MailFailed'
  }
}

/** Throws `MailFailed` for what would become further recipients or headers. */
export function checkMail({ to, subject }: Mail): void {
  if (!/^[^\s,;<>@"]+@[^\s,;<>@"]+$/.test(to)) throw new MailFailed('The recipient is not one address.')
  if (/[\r\n]/.test(subject)) throw new MailFailed('The subject is not one line.')
}
