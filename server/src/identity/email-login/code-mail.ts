import { emailCode } from '@roost/contracts/identity/email-login'
import type { Mail } from '../../ports/mail/port.ts'

/** The mail with a sign-in code. Contains no text from users. */
export function codeMail(to: string, code: string, baseUrl: string): Mail {
  return {
    to,
    subject: `${code} is your sign-in code for Roost`,
    text: [
      `Your code to sign in at ${baseUrl} is`,
      '',
      `    ${code}`,
      '',
      `It is valid for ${emailCode.validSeconds / 60} minutes and works once.`,
      'Nobody from Roost will ask you for it. If you did not want to sign in, ignore this mail.',
      '',
    ].join('\n'),
  }
}
