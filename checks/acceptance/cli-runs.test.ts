/** The command line as a client: agents and runs. */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { agent, json, ok, platform, roost, setUpCli, terminal } from './cli-setup.ts'
import { eventually, type Loose } from './platform.ts'

setUpCli({ isSignedIn: true })

describe('agents and runs', () => {
  test('--json prints errors as an object on the error output', async () => {
    const unknown = await roost(['agents', 'show', 'nobody', '--json'])
    assert.deepEqual([unknown.code, unknown.out], [4, ''])
    assert.deepEqual(JSON.parse(unknown.err), {
      error: 'agent_not_found',
      message: 'There is no agent named "nobody".',
    })
    const refused = await terminal(['agents', 'delete', 'nobody'], [])
    assert.equal(refused.code, 4)
    assert.ok(!refused.out.includes('[y/N]'))
  })

  test('agents networks: opens and closes private addresses; the platform names an invalid one', async () => {
    assert.match(await ok('agents', 'networks'), /except:\s+none/)
    const opened = await ok('agents', 'networks', '--open', '10.0.0.5:443,10.1.0.0/16')
    assert.match(opened, /except:\s+10\.0\.0\.5:443 10\.1\.0\.0\/16/)
    assert.match(await ok('agents', 'networks', '--close', '10.0.0.5:443'), /except:\s+10\.1\.0\.0\/16/)
    const wrong = await roost(['agents', 'networks', '--open', 'example.com'])
    assert.match(wrong.err, /must be an address or a network/)
    assert.match((await roost(['agents', 'networks', '--close', '10.9.9.9'])).err, /not in the list/)
  })

  test('agents: list, show, create, stop, start, rename, delete; 4 for an unknown one', async () => {
    assert.equal((await json('agents')).filter(({ name }: Loose) => name === agent).length, 1)
    assert.match(await ok('agents', 'show', agent), /status:\s+running/)
    await ok('agents', 'create', 'cli-other', '--memory', '2g')
    await ok('agents', 'stop', 'cli-other')
    await ok('agents', 'start', 'cli-other')
    await ok('agents', 'rename', 'cli-other', 'cli-renamed')
    const unconfirmed = await roost(['agents', 'delete', 'cli-renamed'])
    assert.equal(unconfirmed.code, 2)
    assert.match(unconfirmed.err, /--yes/)
    await ok('agents', 'show', 'cli-renamed')
    await ok('agents', 'delete', 'cli-renamed', '--yes')
    const unknown = await roost(['agents', 'show', 'cli-renamed'])
    assert.equal(unknown.code, 4)
    assert.match(unknown.err, /agent_not_found/)
  })

  test('chat prints the answer while it streams, once', async () => {
    assert.equal(
      await ok('chat', agent, 'Say it. [[reply:a long **answer** indeed]] [[drip:20]]'),
      'a long **answer** indeed\n',
    )
    assert.equal((await roost(['chat', agent], { input: 'From a pipe. [[reply:piped]]' })).out, 'piped\n')
    const lines = (await ok('chat', agent, '--json', '[[reply:x]]')).trim().split('\n')
    assert.equal(JSON.parse(lines.at(-1) ?? '').type, 'done')
  })

  test('a conversation in a terminal, ended by Ctrl-D', async () => {
    const { code, out } = await terminal(
      ['chat', agent, '--new'],
      [
        [/cli-agent> $/, 'one [[reply:first answer]]\r'],
        [/first answer\r?\n[\s\S]*cli-agent> $/, 'two [[reply:second answer]]\r'],
        [/second answer\r?\n[\s\S]*cli-agent> $/, '\u0004'],
      ],
    )
    assert.equal(code, 0, out)
  })

  test('Ctrl-C during an answer exits with 130 and cancels the run', async () => {
    const { code } = await terminal(
      ['chat', agent, '[[tool:Bash:sleep 60]] [[reply:never]]'],
      [[/· Bash/, '\u0003']],
    )
    assert.equal(code, 130)
    const [newest] = await json('runs', agent, '--limit', '1')
    assert.equal(newest.status, 'cancelled')
  })

  test('task waits for the end and returns it as exit code; --async does not wait', async () => {
    assert.equal(await ok('task', agent, '[[reply:done]]'), 'done\n')
    const failed = await roost(['task', agent, '[[fail]]'])
    assert.equal(failed.code, 1)
    assert.match(failed.err, /agent_error/)
    const id = (await ok('task', agent, '[[reply:later]]', '--async')).trim()
    assert.equal((await roost(['runs', 'log', agent, id, '-f'])).out, 'later\n')
    assert.match(await ok('runs', 'show', agent, id), /later/)
    assert.match(await ok('runs'), new RegExp(id))
    assert.match(await ok('runs', 'stop', agent, id), /already_finished/)
  })

  test('runs are found by id alone, by the start of it, and under the earlier name of the command', async () => {
    const id = (await ok('task', agent, '[[reply:found]]', '--async')).trim()
    assert.equal((await roost(['runs', 'log', id, '-f'])).out, 'found\n')
    for (const args of [[id], [id.slice(0, 12)], [agent, id]]) {
      const shown = await json('runs', 'show', ...args)
      assert.deepEqual([shown.id, shown.agent_name, shown.response], [id, agent, 'found'])
    }
    assert.match(await ok('executions', 'show', agent, id), /found/)
    assert.match(await ok('runs', 'stop', id), /already_finished/)
    for (const missing of ['no-such-run-anywhere', '%%%%']) {
      const { code, err } = await roost(['runs', 'show', missing])
      assert.deepEqual([code, /There is no run/.test(err)], [4, true], err)
    }
    const short = await roost(['runs', 'show', id.slice(0, 3)])
    assert.deepEqual([short.code, /at least 4 characters/.test(short.err)], [2, true], short.err)
  })

  test('the log of a run is a transcript; --raw and --json have the stored lines', async () => {
    const prompt = '[[tool:Bash:seq 1 40]] [[reply:All **counted**.]]'
    const id = JSON.parse(await ok('task', agent, prompt, '--async', '--json')).execution_id
    await roost(['runs', 'log', id, '-f'])
    const text = await ok('runs', 'log', id)
    assert.match(text, /^> \[\[tool:Bash:seq 1 40\]\]/)
    assert.match(text, /· Bash seq 1 40 +\d\d:\d\d:\d\d/)
    assert.match(text, /^ {2}1\n {2}2\n[\s\S]* {2}… 30 more lines \(--full shows all\)$/m)
    assert.match(text, /^All \*\*counted\*\*\.$/m)
    assert.match(text, /^success \(\d turns?, [\d.]+ s/m)
    assert.doesNotMatch(text, /"type"|\u001b/)
    assert.match(await ok('runs', 'log', id, '--full'), /^ {2}40$/m)
    const raw = (await ok('runs', 'log', id, '--raw')).trim().split('\n')
    assert.deepEqual(
      raw.map((line) => JSON.parse(line)),
      (await ok('runs', 'log', id, '--json'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    assert.equal(JSON.parse(raw.at(-1) ?? '').type, 'result')
    const { out } = await terminal(['runs', 'log', id], [], { TERM: 'xterm', NO_COLOR: '' })
    assert.match(out, /\u001b\[32m✓ success\u001b\[39m/)
  })

  test('colour and symbols on a terminal only, never with NO_COLOR or --json', async () => {
    const color = { TERM: 'xterm-256color', NO_COLOR: '' }
    const shown = await terminal(['agents'], [], color)
    assert.match(shown.out, /\u001b\[32m● running *\u001b\[39m/)
    assert.match(shown.out, /\u001b\[1mNAME +STATUS/)
    const plain = [
      await terminal(['agents'], [], { ...color, NO_COLOR: '1' }),
      await terminal(['agents', '--color=never'], [], color),
      await terminal(['agents'], [], { ...color, TERM: 'dumb' }),
      await terminal(['agents', '--json', '--color=always'], [], color),
      await roost(['agents'], { env: { NO_COLOR: '' } }),
      await roost(['agents', '--json'], { env: { NO_COLOR: '', FORCE_COLOR: '1' } }),
    ]
    for (const { out } of plain) {
      assert.match(out, new RegExp(agent))
      assert.doesNotMatch(out, /\u001b\[\d+m|[●✓]/)
    }
    const forced: Record<string, string>[] = [
      { NO_COLOR: '', FORCE_COLOR: '1' },
      { NO_COLOR: '' },
      { NO_COLOR: '1' },
    ]
    for (const env of forced) {
      const args = 'FORCE_COLOR' in env ? ['agents'] : ['agents', '--color']
      assert.match((await roost(args, { env })).out, /● running/, JSON.stringify(env))
    }
    assert.match((await roost(['--color=sometimes', 'agents'])).err, /--color must be auto, always or never/)
  })

  test('a spinner shows what is awaited on a terminal, and leaves no trace', async () => {
    const color = { TERM: 'xterm', NO_COLOR: '1' }
    const task = ['task', agent, '[[tool:Bash:sleep 2]] [[reply:slept]]']
    const { code, out } = await terminal(task, [], color)
    assert.equal(code, 0, out)
    assert.match(out, /\r\u001b\[K[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Running Bash/)
    assert.match(out, /\r\u001b\[Kslept\r?\n$/)
    assert.doesNotMatch((await terminal(task, [], { TERM: 'dumb' })).out, /Running Bash/)
  })

  test('a mistyped agent, command, subcommand or option gets the nearest name', async () => {
    const cases: [string[], RegExp][] = [
      [['agents', 'show', 'cli-agnet'], /There is no agent named "cli-agnet"\. Did you mean cli-agent\?/],
      [['agnets'], /Unknown command "agnets"\. Did you mean agents\?/],
      [['agents', 'lits'], /Unknown subcommand "lits"\. Did you mean list\?/],
      [['agents', 'list', '--jsno'], /Unknown option --jsno\. Did you mean --json\?/],
      [['help', 'exectuions'], /Did you mean executions\?/],
    ]
    for (const [args, expected] of cases) assert.match((await roost(args)).err, expected)
    assert.doesNotMatch((await roost(['agents', 'show', 'nothing-like-it'])).err, /Did you mean/)
  })

  test('open prints the address where no browser is, and starts the browser that is named', async () => {
    const id = (await ok('task', agent, '[[reply:opened]]', '--async')).trim()
    const pages: [string[], string][] = [
      [[], '/'],
      [[agent], `/agents/${agent}`],
      [[agent, '--tab', 'files'], `/agents/${agent}?tab=files`],
      [[id], `/agents/${agent}/executions/${id}`],
    ]
    for (const [args, path] of pages) {
      const { out } = await terminal(['open', ...args])
      assert.equal(out.trim(), platform.url + path)
    }
    const folder = await mkdtemp(join(platform.dataDir, 'browser-'))
    const browser = join(folder, 'browser')
    await writeFile(
      browser,
      `#!/bin/sh\nprintf %s "$*" > "${folder}/seen.new" && mv "${folder}/seen.new" "${folder}/seen"\n`,
    )
    await chmod(browser, 0o755)
    const { out } = await roost(['open', agent], { env: { BROWSER: browser } })
    assert.equal(out, `Opened ${platform.url}/agents/${agent}\n`)
    const seen = () => readFile(join(folder, 'seen'), 'utf8').catch(() => '')
    assert.equal(await eventually(seen, (text) => text !== ''), `${platform.url}/agents/${agent}`)
    assert.equal((await roost(['open', 'cli-agnet'])).code, 4)
    assert.equal((await roost(['open', '--tab', 'files'])).code, 2)
  })
})
