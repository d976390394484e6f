/** nginx and Caddy with the configurations of docs/operate/reverse-proxy.md, on free ports of this machine. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { blocksOf } from '../agent-pages.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/operate/reverse-proxy.md'), 'utf8')

export const hasProgram = (program: string) => spawnSync('which', [program]).status === 0

export type ReverseProxy = { pid: number } & AsyncDisposable

/** Code blocks of a language in the page, in order. */
export function configurationsOf(language: 'nginx' | 'caddyfile'): string[] {
  return blocksOf('', page)
    .filter((block) => block.language === language)
    .map(({ text }) => text)
}

/** Replaces each text in the configuration; a text that is missing fails. */
export function adapted(configuration: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((config, [from, to]) => {
    assert.ok(config.includes(from), `${from} in the configuration`)
    return config.replaceAll(from, to)
  }, configuration)
}

/** The page's configuration of nginx for several upstreams, each given as `host:port`. */
export function nginxForSeveral(upstreams: readonly string[]): string {
  const [site = '', upstream = '', location = ''] = configurationsOf('nginx')
  return `${withServers(upstream, upstreams)}\n${adapted(site, {
    '        proxy_pass http://127.0.0.1:8000;\n': location,
  })}`
}

/** The page's configuration of Caddy for several upstreams, each given as `host:port`. */
export function caddyForSeveral(upstreams: readonly string[]): string {
  const several = configurationsOf('caddyfile')[1] ?? assert.fail('a second Caddyfile')
  return adapted(several, { '10.0.0.11:8000 10.0.0.12:8000 10.0.0.13:8000': upstreams.join(' ') })
}

/** Repeats the first `server` line of an upstream for each address. */
function withServers(upstream: string, addresses: readonly string[]): string {
  const lines = upstream.split('\n')
  const isServer = (line: string) => /^\s*server\s/.test(line)
  const first = lines.find(isServer) ?? assert.fail('a server line')
  const servers = addresses.map((address) => first.replace(/server \S+/, `server ${address}`))
  const at = lines.indexOf(first)
  return [...lines.slice(0, at), ...servers, ...lines.slice(at).filter((line) => !isServer(line))].join('\n')
}

/** Starts nginx in the foreground with this content of its `http` block. Files are written to `folder`. */
export function startNginx(folder: string, http: string): ReverseProxy {
  return run(...nginxProgram(folder, http))
}

/** Writes the configuration of `startNginx`; returns the program and its arguments. */
export function nginxProgram(folder: string, http: string): [file: string, args: string[]] {
  writeFileSync(join(folder, 'site.conf'), http)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log stderr crit; events {}
    http { access_log off; ${temporary.join(' ')} include ${folder}/site.conf; }`,
  )
  return ['nginx', ['-c', join(folder, 'nginx.conf')]]
}

/** Starts Caddy with these sites. Files are written to `folder`. */
export function startCaddy(folder: string, sites: string): ReverseProxy {
  const file = join(folder, 'Caddyfile')
  const global = '{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n'
  writeFileSync(file, global + sites)
  return run('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  })
}

function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): ReverseProxy {
  const started: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  })
  return {
    pid: started.pid ?? 0,
    async [Symbol.asyncDispose]() {
      if (started.exitCode !== null || started.signalCode !== null) return
      const ended = once(started, 'exit')
      started.kill('SIGTERM')
      await ended
    },
  }
}
