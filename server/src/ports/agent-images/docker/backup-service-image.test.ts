import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { buildRecord } from '../../../operations/version/index.ts'
import { connect } from '../../containers/docker/connect.ts'
import { ensureBackupServiceImage, findBackupServiceImage } from './backup-service-image.ts'

const root = resolve(import.meta.dirname, '../../../../..')
const docker = connect(process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:')
const volume = `roost-test-backup-${randomBytes(4).toString('hex')}`
const options = {
  ...{ docker, root, env: process.env, record: await buildRecord(root) },
  onProgress: () => {},
}
const run = promisify(execFile)
let image = ''

before(async () => {
  image = (await ensureBackupServiceImage(options)).image
})
after(async () => {
  await run('docker', ['volume', 'rm', volume, `${volume}-backups`])
})

/** Runs the image as the Compose files do. */
const inImage = async (...args: string[]) => {
  const hardened = [
    '--read-only',
    '--tmpfs',
    '/tmp',
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
  ]
  const rights = ['--cap-add', 'SETUID', '--cap-add', 'SETGID', '--network', 'none']
  const env = ['-e', 'ROOST_BACKUP_PASSPHRASE=correct horse battery', '-e', 'ROOST_CONTAINERS_URL=fake:']
  const { stdout } = await run('docker', [
    ...['run', '--rm', ...hardened, ...rights, ...env],
    ...['-v', `${volume}:/data`, '-v', `${volume}-backups:/backups`, ...args],
  ])
  return stdout
}

test('a release contains it; it is at most 380 MB, and another commit is another image', async () => {
  const images = join(root, 'server/src/start/images.ts')
  const { stdout } = await run(process.execPath, [images, '--check', '--platform'])
  const names = stdout.split('\n').map((line) => line.split(' ')[1])
  assert.ok(names.includes(image) && names.includes(image.replace('backup', 'platform')), stdout)
  const { Size } = await docker.getImage(image).inspect()
  assert.ok(Size <= 380_000_000, `${Size} bytes`)
  const record = { ...options.record, commit: '1'.repeat(40) }
  assert.equal((await findBackupServiceImage({ ...options, record })).isReady, false)
})

test('its programs run as the owner of the data, and write only to mounts', async () => {
  await inImage(image, 'migrate')
  await inImage(image, 'backup', '--to', '/backups/small.tar.gz')
  const shell = ['--entrypoint', '/bin/sh', image, '-c']
  const file = 'stat -c "%u %a" /backups/small.tar.gz'
  assert.equal(await inImage('--user', '10001', ...shell, file), '10001 600\n')
  await assert.rejects(inImage(...shell, file), /Permission denied/, 'the user of the entry has no rights')
  const versions = 'restic version; pg_dump --version; tar --version; find /usr -perm /6000 -type f'
  const found = await inImage('--user', '10001', ...shell, versions)
  assert.match(found, /^restic 0\.\d+.*pg_dump \(PostgreSQL\) 15\..*GNU tar/s)
  assert.doesNotMatch(found, /^\//m, 'no program changes its user by a file mode')
})
