import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'

const main = join(import.meta.dirname, 'main.ts')

/** Creates a data folder with a database, and an existing file at the path of the backup. */
async function installation(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-backup-command-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const database = new DatabaseSync(join(folder, 'roost.db'))
  database.exec('create table settings (key text, value text)')
  database.close()
  const archive = join(folder, 'letter.tar.gz')
  await writeFile(archive, 'a letter')
  return { folder, archive, args: ['backup', '--to', archive, '--data-dir', folder] }
}

async function run(command: string, args: string[], answer?: string) {
  const env = { ...process.env, ROOST_BACKUP_PASSPHRASE: 'correct horse battery' }
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const exitCode = new Promise<number | null>((done) => child.once('close', done))
  let printed = ''
  // Answers once the question has been printed.
  child.stdout.on('data', (piece) => {
    printed += piece
    if (answer !== undefined && printed.includes('[y/N]')) child.stdin.end(answer)
  })
  if (answer === undefined) child.stdin.end()
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exitCode])
  return { out, err, code }
}

const roost = (args: string[]) => run(process.execPath, [main, ...args])
/** Runs the command in a pseudo-terminal and answers its question. */
const inTerminal = (args: string[], answer: string) =>
  run('script', ['-qec', [process.execPath, main, ...args].join(' '), '/dev/null'], answer)

test('2 for a backup to an existing file without a terminal; the file is unchanged', async (t) => {
  const { folder, archive, args } = await installation(t)
  const { err, code } = await roost(args)
  assert.equal(code, 2)
  assert.match(err, /letter\.tar\.gz exists already\. Give another name, or replace it with --force\./)
  assert.equal(await readFile(archive, 'utf8'), 'a letter')
  const other = await roost(['backup', '--to', folder, '--data-dir', folder])
  assert.deepEqual([other.code, /is a folder/.test(other.err)], [2, true])
})

test('--force replaces the file and leaves no temporary files', async (t) => {
  const { folder, archive, args } = await installation(t)
  const { out, err, code } = await roost([...args, '--force'])
  assert.equal(code, 0, out + err)
  const [first, second] = await readFile(archive)
  assert.deepEqual([first, second], [0x1f, 0x8b], 'gzip')
  const temporary = (await readdir(folder)).filter(
    (name) => name.startsWith('.roost-backup') || name.endsWith('.part'),
  )
  assert.deepEqual(temporary, [])
})

test('on a terminal only a confirmation replaces the file', async (t) => {
  const { archive, args } = await installation(t)
  const declined = await inTerminal(args, 'n\n')
  assert.match(declined.out, /letter\.tar\.gz exists already\. Replace it\? \[y\/N\]/)
  assert.equal(declined.code, 1)
  assert.equal(await readFile(archive, 'utf8'), 'a letter')
  const confirmed = await inTerminal(args, 'y\n')
  assert.equal(confirmed.code, 0, confirmed.out)
  assert.notEqual(await readFile(archive, 'utf8'), 'a letter')
})
