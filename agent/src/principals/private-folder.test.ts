import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeTestHome } from '../test/home.ts'
import type { PrivateFolderReport } from '../test/private-folder-program.ts'
import { asProgram } from '../test/process.ts'

const asRoot = process.getuid?.() === 0 ? {} : { skip: 'only root can give a process another user' }
const program = fileURLToPath(new URL('../test/private-folder-program.ts', import.meta.url))

/** `prepare` gets the path of the home that will be made. */
function report(prepare: (home: string) => void = () => {}): PrivateFolderReport & { uid: number } {
  using place = makeTestHome()
  const uid = randomInt(30_000, 50_000)
  const homes = join(place.root, 'volume', 'homes')
  mkdirSync(homes, { recursive: true })
  for (const folder of [join(place.root, 'volume'), homes]) chownSync(folder, 1000, 1000)
  prepare(join(homes, String(uid)))
  const [command = '', ...prefix] = asProgram
  const args = [...prefix, process.execPath, program, place.root, String(uid)]
  return { uid, ...JSON.parse(execFileSync(command, args, { encoding: 'utf8' })) }
}

const lines = (text: string) => text.trimEnd().split('\n').sort()

test(
  'nobody enters the home or the scratch folder of somebody else, not even before its handover',
  asRoot,
  () => {
    const { uid, entered, attempts, home, scratch } = report()
    assert.deepEqual(entered, [])
    assert.ok(attempts > 0)
    assert.deepEqual(lines(home), [
      `664 ${uid} ${uid} .gitconfig`,
      `700 ${uid} ${uid} `,
      `700 ${uid} ${uid} .tmp`,
    ])
    assert.deepEqual(lines(scratch), [
      `664 ${uid} ${uid} images/one.png`,
      `770 ${uid} ${uid} `,
      `775 ${uid} ${uid} images`,
    ])
  },
)

test('a home whose creation was interrupted is made again', asRoot, () => {
  const { uid, home } = report((path) => {
    mkdirSync(join(path, '.tmp'), { recursive: true })
    writeFileSync(join(path, 'planted'), '')
    execFileSync('chown', ['-R', '1000:1000', path])
  })
  assert.deepEqual(
    lines(home).map((line) => line.split(' ').at(-1)),
    ['.gitconfig', '', '.tmp'],
  )
  assert.match(home, new RegExp(`^700 ${uid} `))
})
