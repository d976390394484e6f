import assert from 'node:assert/strict'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { createFakeClock } from '../kit/fake-clock.ts'
import { openSegments } from './segments.ts'
import { openSpool } from './spool.ts'

const clock = createFakeClock()
const run = { executionId: 'run-1', claimToken: 3, kind: 'task' as const }

function line(text: string): TranscriptLine {
  return { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } }
}

function notice(text: string): TranscriptLine {
  return { type: 'system', subtype: 'notice', level: 'info', message: text }
}

const result = {
  t: 'result' as const,
  execution_id: 'run-1',
  claim_token: 3,
  status: 'success' as const,
  response: 'done',
  error: null,
  error_code: null,
  terminal_reason: 'completed' as const,
  metadata: {},
  runtime_session_id: null,
  execution_time_ms: 1,
}

async function withFolder(body: (folder: string) => void | Promise<void>) {
  const folder = mkdtempSync('/tmp/roost-spool-test-')
  try {
    await body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('lines are numbered from 1 and readable from any number, even those no longer in memory', () =>
  withFolder((folder) => {
    const spooled = openSpool(folder, clock).open(run)
    for (let count = 1; count <= 5000; count += 1) spooled.append([line(`${count} ${'x'.repeat(1000)}`)])
    assert.equal(spooled.lastLine(), 5000)
    let next = 1
    while (next <= 5000) {
      const { from, lines } = spooled.read(next, 256 * 1024)
      assert.equal(from, next)
      assert.ok(lines.length > 0)
      for (const each of lines) {
        assert.ok(JSON.stringify(each).includes(`"${next} x`))
        next += 1
      }
      spooled.ack(next - 1)
    }
    assert.equal(next, 5001)
  }))

test('acknowledged lines are deleted from disk', () =>
  withFolder((folder) => {
    const spooled = openSpool(folder, clock).open(run)
    for (let count = 1; count <= 5000; count += 1) spooled.append([line('x'.repeat(1000))])
    const files = () => readdirSync(join(folder, 'run-1')).filter((name) => name.endsWith('.ndjson'))
    assert.ok(files().length >= 5)
    spooled.ack(5000)
    assert.equal(files().length, 1)
    spooled.remove()
    assert.deepEqual(readdirSync(folder), [])
  }))

test('a line larger than a message is still read, alone', () =>
  withFolder((folder) => {
    const spooled = openSpool(folder, clock).open(run)
    spooled.append([line('a'), line('x'.repeat(600_000)), line('b')])
    assert.equal(spooled.read(1, 256 * 1024).lines.length, 1)
    assert.equal(spooled.read(2, 256 * 1024).lines.length, 1)
    assert.equal(spooled.read(3, 256 * 1024).lines.length, 1)
  }))

test('after a restart the program restores runs, their lines and their results', () =>
  withFolder((folder) => {
    const before = openSpool(folder, clock)
    const first = before.open(run)
    first.append([line('one'), line('two')])
    first.markSpawned()
    const second = before.open({ ...run, executionId: 'run-2' })
    second.append([line('only')])
    second.finish({ ...result, execution_id: 'run-2' })
    before.open({ ...run, executionId: 'run-3' })

    const after = openSpool(folder, clock)
    assert.deepEqual(
      after.all().map((each) => [each.executionId, each.claimToken, each.state(), each.lastLine()]),
      [
        ['run-1', 3, 'spawned', 2],
        ['run-2', 3, 'finished', 1],
        ['run-3', 3, 'accepted', 0],
      ],
    )
    assert.equal(after.get('run-2')?.result()?.response, 'done')
    assert.equal(after.get('run-2')?.result()?.last_line, 1)
    const again = after.get('run-1')
    again?.append([line('three')])
    const texts = [1, 3]
      .flatMap((from) => again?.read(from, 1e6).lines ?? [])
      .map((each) => JSON.stringify(each))
    assert.deepEqual(
      texts.map((text) => /one|two|three/.exec(text)?.[0]),
      ['one', 'two', 'three'],
    )
  }))

test('a line that was incomplete when the program died is dropped', () =>
  withFolder((folder) => {
    openSpool(folder, clock)
      .open(run)
      .append([line('one'), line('two')])
    const file = readdirSync(join(folder, 'run-1')).find((name) => name.endsWith('.ndjson'))
    appendFileSync(join(folder, 'run-1', file ?? ''), '{"type":"assist')
    const again = openSpool(folder, clock).get('run-1')
    assert.equal(again?.lastLine(), 2)
    again?.append([line('three')])
    assert.equal(again?.read(3, 1e6).lines.length, 1)
    assert.equal(openSpool(folder, clock).get('run-1')?.lastLine(), 3)
  }))

test('a folder without a run is deleted', () =>
  withFolder((folder) => {
    appendFileSync(join(folder, 'stray'), 'x')
    assert.deepEqual(openSpool(folder, clock).all(), [])
    assert.deepEqual(readdirSync(folder), [])
  }))

test('a full spool drops the middle of a run, keeps numbers without gaps and adds a notice', () =>
  withFolder((folder) => {
    const spooled = openSpool(folder, clock, 100_000).open(run)
    for (let count = 1; count <= 20_000; count += 1) spooled.append([line(`${count} ${'x'.repeat(1000)}`)])
    const stored = spooled.lastLine()
    assert.ok(stored < 200)
    spooled.finish(result)
    const texts: string[] = []
    for (let next = 1; next <= spooled.lastLine(); ) {
      const { lines } = spooled.read(next, 1e6)
      texts.push(...lines.map((each) => JSON.stringify(each)))
      next += lines.length
    }
    assert.match(
      texts[stored] ?? '',
      /The spool was full: \d+ lines \(\d+ bytes\) of this run are missing here/,
    )
    assert.match(texts.at(-1) ?? '', /"20000 x/)
    assert.equal(spooled.result()?.last_line, texts.length)
    const missing = Number(/full: (\d+) lines/.exec(texts[stored] ?? '')?.[1])
    assert.equal(stored + missing + (texts.length - stored - 1), 20_000)
  }))

test('lines are stored again once there is space', () =>
  withFolder((folder) => {
    const spooled = openSpool(folder, clock, 50_000).open(run)
    for (let count = 1; count <= 100; count += 1) spooled.append([line('x'.repeat(1000))])
    const stored = spooled.lastLine()
    assert.ok(stored < 100)
    const other = openSpool(folder, clock, 10_000_000).get('run-1')
    other?.append([notice('room')])
    assert.equal(other?.lastLine(), stored + 1)
  }))

test('a line above 1 MiB is truncated and keeps its original length; lone surrogates are replaced', () =>
  withFolder((folder) => {
    const spooled = openSpool(folder, clock).open(run)
    spooled.append([line(`${'é'.repeat(900_000)}`)])
    spooled.append([line('a\ud800b')])
    spooled.append([line('short')], 77_000_000)
    const [long, lone, source] = spooled.read(1, 1e9).lines
    assert.ok(Buffer.byteLength(JSON.stringify(long)) <= 1024 * 1024)
    assert.equal(long?._truncated, true)
    assert.ok((long?._length ?? 0) > 1_800_000)
    assert.deepEqual(lone && 'message' in lone ? lone.message : null, {
      role: 'assistant',
      content: [{ type: 'text', text: 'a\ufffdb' }],
    })
    assert.equal(source?._length, 77_000_000)
  }))

test('a failed start of a segment leaves the descriptors of other files alone', () =>
  withFolder((folder) => {
    const directory = join(folder, 'run')
    mkdirSync(directory)
    const segments = openSegments(directory)
    segments.append(`${'x'.repeat(1024 * 1024)}\n`, 1)
    renameSync(directory, `${directory}.away`)
    assert.throws(() => segments.append('lost\n', 1), { code: 'ENOENT' })
    renameSync(`${directory}.away`, directory)
    const path = join(folder, 'other')
    // Gets the number of the segment's descriptor.
    const other = openSync(path, 'w')
    segments.append('y\n', 1)
    writeSync(other, 'other')
    closeSync(other)
    assert.equal(readFileSync(path, 'utf8'), 'other')
    assert.deepEqual([segments.readFrom(2), segments.last()], [['y'], 2])
    segments.close()
  }))
