import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Credentials } from './api.ts'
import { run } from './processes.ts'

const days = '30'

/** The authority of one cluster; `folder` holds its files `NAME.crt` and `NAME.key`. */
export type Authority = {
  caFile: string
  /** Writes a certificate and its key. `names` are subject alternative names of a server, such as `IP:10.0.0.1`. */
  issue(name: string, subject: string, names?: readonly string[]): Promise<Credentials & Files>
}
type Files = { certFile: string; keyFile: string }

export async function createAuthority(folder: string): Promise<Authority> {
  const caFile = join(folder, 'ca.crt')
  const caKey = join(folder, 'ca.key')
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKey,
    '-subj',
    '/CN=roost-test-ca',
    '-days',
    days,
    '-out',
    caFile,
  )
  const ca = await readFile(caFile, 'utf8')
  let serial = 0
  return {
    caFile,
    async issue(name, subject, names = []) {
      const path = (kind: string) => join(folder, `${name}.${kind}`)
      const extensions = [
        'keyUsage=digitalSignature',
        'extendedKeyUsage=serverAuth,clientAuth',
        ...(names.length > 0 ? [`subjectAltName=${names.join(',')}`] : []),
      ]
      serial += 1
      const own = String(serial)
      await writeFile(path('ext'), `${extensions.join('\n')}\n`)
      await openssl('req', ...newKey, '-keyout', path('key'), '-subj', subject, '-out', path('csr'))
      const authority = ['-CA', caFile, '-CAkey', caKey, '-set_serial', own, '-days', days]
      await openssl(
        'x509',
        '-req',
        '-in',
        path('csr'),
        ...authority,
        '-extfile',
        path('ext'),
        '-out',
        path('crt'),
      )
      const [cert, key] = await Promise.all([readFile(path('crt'), 'utf8'), readFile(path('key'), 'utf8')])
      return { ca, cert, key, certFile: path('crt'), keyFile: path('key') }
    },
  }
}

/** The key pair that signs tokens of service accounts. */
export async function createTokenKey(folder: string): Promise<{ privateFile: string; publicFile: string }> {
  const privateFile = join(folder, 'tokens.key')
  const publicFile = join(folder, 'tokens.pub')
  await openssl(
    'genpkey',
    '-algorithm',
    'EC',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-out',
    privateFile,
  )
  // The API server reads keys of this older format only.
  await openssl('ec', '-in', privateFile, '-out', privateFile)
  await openssl('ec', '-in', privateFile, '-pubout', '-out', publicFile)
  return { privateFile, publicFile }
}

async function openssl(...args: string[]): Promise<void> {
  await run('openssl', args)
}
