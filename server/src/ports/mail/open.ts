import { resolve } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Log } from '../log.ts'
import { fileMailer } from './file.ts'
import { logMailer } from './log.ts'
import type { Mailer } from './port.ts'
import { smtpMailer } from './smtp.ts'

/**
 * Opens what `url` names: `smtp://`, `smtps://`, `file:<folder>` or `log:`. `?from=` names the sender's
 * address; without it the user of the mail server when that is an address, else `roost@<platformHost>`.
 * Null, without mail, when there is no URL.
 */
export function openMailer(
  url: Secret | null,
  deps: { platformHost: string; clock: Pick<Clock, 'now'>; log: Log },
): Mailer | null {
  if (url === null) return null
  const text = url.reveal()
  const [place = '', query = ''] = text.split('?', 2)
  const fallback = `roost@${deps.platformHost}`
  const named = new URLSearchParams(query).get('from')
  if (place.startsWith('log:')) return logMailer(deps.log, named ?? fallback)
  if (place.startsWith('file:')) {
    const folder = resolve(place.replace(/^file:(\/\/(?=\/))?/, ''))
    return fileMailer(folder, named ?? fallback, deps.clock)
  }
  const server = new URL(place)
  const user = decodeURIComponent(server.username)
  return smtpMailer(server, named ?? (user.includes('@') ? user : fallback))
}
