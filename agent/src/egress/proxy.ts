import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import type { AgentWayOut } from '@roost/contracts/link/egress'
import type { Near } from './address.ts'

export type EgressProxy = {
  /** Returns the proxy and certificate variables for a child process; empty without a proxy. */
  variables(wayOut: AgentWayOut | null): Promise<Record<string, string>>
}

/** `folder` holds only certificates and is readable by all users; `system` is the image's CA bundle. */
export function createEgressProxy(deps: { folder: string; near(): Near; system?: string }): EgressProxy {
  const { folder, near, system = '/etc/ssl/certs/ca-certificates.crt' } = deps
  const files = { authority: join(folder, 'authority.pem'), all: join(folder, 'all.pem') }
  let written: string | null = null

  async function place(path: string, text: string): Promise<void> {
    // A rename, so that a starting program reads the old or the new file, never a part.
    await writeFile(`${path}.part`, text, { mode: 0o644 })
    await rename(`${path}.part`, path)
  }

  async function write(authority: string): Promise<void> {
    if (written === authority) return
    const known = await readFile(system, 'utf8').catch(() => rootCertificates.join('\n'))
    await mkdir(folder, { recursive: true, mode: 0o755 })
    await place(files.authority, authority)
    await place(files.all, `${known.trimEnd()}\n${authority}`)
    written = authority
  }

  return {
    async variables(access) {
      if (access === null) return {}
      const { host, port } = near()
      const user = `${encodeURIComponent(access.user)}:${encodeURIComponent(access.ticket)}`
      const proxy = `http://${user}@${host}:${port}`
      const direct = [...new Set([host, '127.0.0.1', 'localhost', '::1'])].join(',')
      const variables = {
        ...both({ HTTPS_PROXY: proxy, HTTP_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: direct }),
        NODE_USE_ENV_PROXY: '1',
      }
      if (access.authority === null) return variables
      await write(access.authority)
      const replacing = [
        'SSL_CERT_FILE',
        'CURL_CA_BUNDLE',
        'REQUESTS_CA_BUNDLE',
        'GIT_SSL_CAINFO',
        'PIP_CERT',
      ]
      const trusting = [...replacing, 'AWS_CA_BUNDLE', 'CARGO_HTTP_CAINFO', 'DENO_CERT']
      return {
        ...variables,
        NODE_EXTRA_CA_CERTS: files.authority,
        ...Object.fromEntries(trusting.map((name) => [name, files.all])),
      }
    },
  }
}

/** Programs disagree about the case of these names. */
function both(variables: Record<string, string>): Record<string, string> {
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value])
  return { ...variables, ...Object.fromEntries(lower) }
}
