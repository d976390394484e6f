import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

export type TestCertificate = { certFile: string; keyFile: string; cert: string; key: string }

/** Makes self-signed certificates with openssl in a folder that is removed after the tests of the file. */
export function createTestCertificates(): (name: string, ...options: string[]) => TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'roost-certificates-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return (name, ...options) => {
    const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
    const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc']
    const files = ['-keyout', keyFile, '-out', certFile]
    execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...files, ...options], { stdio: 'pipe' })
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  }
}
