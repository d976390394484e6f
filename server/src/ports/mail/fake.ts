import { checkMail, type Mail, type Mailer, MailFailed } from './port.ts'

export type FakeMailer = Mailer & {
  /** In the order in which they were sent. */
  readonly sent: Mail[]
  /** From now on mail fails, hangs until the next change, or goes through. */
  set(state: 'works' | 'fails' | 'hangs'): void
}

export function createFakeMailer(): FakeMailer {
  const sent: Mail[] = []
  let state: 'works' | 'fails' | 'hangs' = 'works'
  let changed = Promise.withResolvers<void>()
  return {
    kind: 'fake',
    sent,
    set(next) {
      state = next
      changed.resolve()
      changed = Promise.withResolvers<void>()
    },
    async send(mail) {
      checkMail(mail)
      while (state === 'hangs') await changed.promise
      if (state === 'fails') throw new MailFailed('The mail server is away.')
      sent.push(mail)
    },
    async close() {},
  }
}
