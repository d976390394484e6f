import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import type { AgentWayOut } from '@roost/contracts/link/egress'

export type WayOut = {
  /** For every child: how it gets out, and whom it trusts there. None when it goes out by itself. */
  variables(wayOut: AgentWayOut | null): Promise<Record<string, string>>
}

/** `folder` is readable by whoever works here, and holds nothing else; `system` are the authorities of the image. */
export function createWayOut(deps: { folder: string; linkUrl: string; system?: string }): WayOut {
  const { folder, linkUrl, system = '/etc/ssl/certs/ca-certificates.crt' } = deps
  const files = { authority: join(folder, 'authority.pem'), all: join(folder, 'all.pem') }
  let written: string | null = null

  async function place(path: string, text: string): Promise<void> {
    // A program that starts just now reads the old one or the new one.
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
    async variables(wayOut) {
      if (wayOut === null) return {}
      const { hostname, port } = new URL(linkUrl)
      const user = `${encodeURIComponent(wayOut.user)}:${encodeURIComponent(wayOut.ticket)}`
      const proxy = `http://${user}@${hostname}:${port || '80'}`
      const direct = [...new Set([hostname, '127.0.0.1', 'localhost', '::1'])].join(',')
      const variables = {
        ...both({ HTTPS_PROXY: proxy, HTTP_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: direct }),
        NODE_USE_ENV_PROXY: '1',
      }
      if (wayOut.authority === null) return variables
      await write(wayOut.authority)
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

/** Programs do not agree about the case of these. */
function both(variables: Record<string, string>): Record<string, string> {
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value])
  return { ...variables, ...Object.fromEntries(lower) }
}
