import { resolve } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Log } from '../log.ts'
import { fileMailer } from './file.ts'
import { logMailer } from './log.ts'
import type { Mailer } from './port.ts'
import { smtpMailer } from './smtp.ts'

/**
 * Opens the mailer of `url`: `smtp://`, `smtps://`, `file:<folder>` or `log:`. `?from=` sets the sender's
 * address. The default is the server's user if that is an address, else `roost@<platformHost>`. Null without
 * a URL.
 */
export function openMailer(
  url: Secret | null,
  deps: { platformHost: string; clock: Pick<Clock, 'now'>; log: Log },
): Mailer | null {
  if (url === null) return null
  const text = url.reveal()
  const [target = '', query = ''] = text.split('?', 2)
  const fallback = `roost@${deps.platformHost}`
  const sender = new URLSearchParams(query).get('from')
  if (target.startsWith('log:')) return logMailer(deps.log, sender ?? fallback)
  if (target.startsWith('file:')) {
    const folder = resolve(target.replace(/^file:(\/\/(?=\/))?/, ''))
    return fileMailer(folder, sender ?? fallback, deps.clock)
  }
  const server = new URL(target)
  const user = decodeURIComponent(server.username)
  return smtpMailer(server, sender ?? (user.includes('@') ? user : fallback))
}
