import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { run } from '../machine/run.ts'
import { ReleaseError } from './error.ts'
import { writeImageArchive } from './image-archive.ts'

const hasEngine = process.env.ROOST_TEST_CONTAINERS_URL?.startsWith('docker:') === true
const skip = hasEngine ? false : 'needs Docker'
const images = [`roost-release-test:${process.pid}`, `roost-release-test-child:${process.pid}`]
const epoch = Date.UTC(2020, 5, 1) / 1000
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-release-test-'))
})
after(async () => {
  await rm(folder, { recursive: true, force: true })
  if (hasEngine) await run('docker', ['rmi', '-f', ...images])
})

async function docker(...args: string[]): Promise<string> {
  const { code, stdout, lastLines } = await run('docker', args)
  assert.equal(code, 0, lastLines.join('\n'))
  return stdout
}

/** Builds two images that share layers. The content of some files depends on the moment, as in real builds. */
async function build(): Promise<void> {
  const [parent = '', child = ''] = images
  await copyFile('/bin/busybox', join(folder, 'busybox'))
  const script = [
    'mkdir -p /etc /var/log /data',
    'date > /var/log/build.log; head -c 16 /dev/urandom > /etc/passwd-',
    'echo "ann:*:$(($(date +%s) / 86400)):0:99999:7:::" > /etc/shadow',
    'echo text > /data/file; ln /data/file /data/hard; ln -s file /data/soft; : > /data/empty',
    'chmod 4751 /data/file; chown 5:6 /data/empty; echo gone > /data/gone',
  ].join('; ')
  const shell = (text: string) => `RUN ["/bin/busybox", "sh", "-c", ${JSON.stringify(text)}]`
  await writeFile(
    join(folder, 'Dockerfile'),
    ['FROM scratch', 'COPY busybox /bin/busybox', 'RUN ["/bin/busybox", "--install", "-s", "/bin"]']
      .concat(shell(script), shell('rm /data/gone'), 'ENV GREETING=hello', 'CMD ["/bin/ls"]')
      .join('\n'),
  )
  await docker('build', '-q', '--no-cache', '-t', parent, folder)
  await writeFile(join(folder, 'Dockerfile.child'), `FROM ${parent}\n${shell('echo more > /data/more')}`)
  await docker('build', '-q', '--no-cache', '-t', child, '-f', join(folder, 'Dockerfile.child'), folder)
}

test('two builds of the same content give the same bytes, and the images run as before', {
  skip,
}, async () => {
  const hashes: string[] = []
  for (const name of ['first', 'second']) {
    await build()
    const to = join(folder, name)
    await writeImageArchive({ images: name === 'first' ? images : images.toReversed(), to, epoch })
    hashes.push(
      createHash('sha256')
        .update(await readFile(to))
        .digest('hex'),
    )
    await docker('rmi', '-f', ...images)
  }
  assert.equal(hashes[0], hashes[1])

  await docker('load', '-i', join(folder, 'second'))
  const script = 'cat /data/hard /data/soft /data/more; echo $GREETING; stat -c "%a %u %g %Y %h %n" /data/*'
  const seen = await docker('run', '--rm', images[1] ?? '', '/bin/sh', '-c', script)
  assert.deepEqual(seen.trim().split('\n'), [
    ...['text', 'text', 'more', 'hello'],
    `644 5 6 ${epoch} 1 /data/empty`,
    `4751 0 0 ${epoch} 2 /data/file`,
    `4751 0 0 ${epoch} 2 /data/hard`,
    `644 0 0 ${epoch} 1 /data/more`,
    `777 0 0 ${epoch} 1 /data/soft`,
  ])
  const shadow = await docker('run', '--rm', images[0] ?? '', '/bin/cat', '/etc/shadow')
  assert.equal(shadow, `ann:*:${Math.floor(epoch / 86_400)}:0:99999:7:::\n`)
})

test('an image that the engine lacks is refused, and leaves no file', { skip }, async () => {
  const to = join(folder, 'missing')
  const work = writeImageArchive({ images: ['roost-release-test:absent'], to, epoch })
  await assert.rejects(work, (error) => error instanceof ReleaseError && /absent/.test(error.message))
  await assert.rejects(readFile(to), { code: 'ENOENT' })
})
