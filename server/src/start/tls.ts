import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { type Config, ConfigError, type ConfigProblem } from '../config.ts'
import type { Certificate } from '../http/listen-secure.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../ports/log.ts'

type Files = { certFile: string; keyFile: string }

/** The files of the certificate, or null for HTTP. `parseConfig` has refused one without the other. */
export function tlsFiles({ tlsCert, tlsKey }: Pick<Config, 'tlsCert' | 'tlsKey'>): Files | null {
  return tlsCert === null || tlsKey === null ? null : { certFile: tlsCert, keyFile: tlsKey }
}

/** Throws `ConfigError` for files that are unreadable, invalid, expired or do not belong together. */
export function readCertificate({ certFile, keyFile }: Files, now: Date): Certificate {
  const cert = read('ROOST_TLS_CERT', certFile)
  const key = read('ROOST_TLS_KEY', keyFile)
  const parsed = parsedOr(
    'ROOST_TLS_CERT',
    `names no certificate in PEM format: ${certFile}`,
    () => new X509Certificate(cert),
  )
  const privateKey = parsedOr(
    'ROOST_TLS_KEY',
    `names no private key in PEM format without a passphrase: ${keyFile}`,
    () => createPrivateKey(key),
  )
  if (!parsed.checkPrivateKey(privateKey))
    throw problem('ROOST_TLS_KEY', `names a key that does not belong to the certificate: ${keyFile}`)
  if (parsed.validToDate <= now)
    throw problem(
      'ROOST_TLS_CERT',
      `names a certificate that expired on ${parsed.validToDate.toISOString()}: ${certFile}`,
    )
  return { cert, key }
}

function read(name: ConfigProblem['name'], path: string): string {
  return parsedOr(name, `names a file that cannot be read: ${path}`, () => readFileSync(path, 'utf8'))
}

function parsedOr<T>(name: string, message: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw problem(name, code && /^E[A-Z]+$/.test(code) ? `${message} (${code})` : message)
  }
}

function problem(name: string, message: string): ConfigError {
  return new ConfigError([{ name, message }])
}

/** Renewals replace the files once in weeks; both files are compared together. */
const watchMs = 5_000

/**
 * Loads the certificate again after SIGHUP and after a change of its files, without a restart. Files that `start` would
 * refuse are logged, and the previous certificate stays. Returns a function that stops it.
 */
export function watchCertificate(
  files: Files,
  use: (certificate: Certificate) => void,
  {
    clock,
    log,
    everyMs = watchMs,
  }: { clock: Pick<Clock, 'now'>; log: Pick<Log, 'info' | 'warn'>; everyMs?: number },
): () => void {
  const reload = () => {
    try {
      use(readCertificate(files, clock.now()))
      log.info({}, 'the TLS certificate was loaded again')
    } catch (error) {
      // A renewal writes two files: between them they do not belong together.
      log.warn({ err: error }, 'the TLS certificate was not loaded again; the previous one stays in use')
    }
  }
  const paths = [files.certFile, files.keyFile]
  for (const path of paths) watchFile(path, { interval: everyMs, persistent: false }, reload)
  process.on('SIGHUP', reload)
  return () => {
    for (const path of paths) unwatchFile(path, reload)
    process.off('SIGHUP', reload)
  }
}
