import { spawn } from 'node:child_process'
import { chmod, lstat } from 'node:fs/promises'
import type { Clock } from '../kit/clock.ts'
import { credentialsGroup, type Identities, type ProcessUser } from '../processes/identity.ts'
import { closeCredentials } from './closed-files.ts'
import type { TurnPlace } from './places.ts'

/**
 * Keeps the shared workspace usable: files of one user can be changed by the next one, also when a program
 * set their mode. Costs nothing for an agent that only its owner uses.
 */
export type Sharing = {
  /** Called before a turn. */
  before(place: TurnPlace): Promise<void>
  /** Called when a turn has ended, before its result is reported: the next turn waits for its work. */
  after(place: TurnPlace): Promise<void>
  /** The owner may have created files: by a turn, in a terminal, or through the platform. */
  noteOwner(): void
}

const limitMs = 30_000
/** Pause after the owner's last change before it is checked: changes often come in groups. */
const calmMs = 1000

export function createSharing(home: string, identities: Identities, clock: Pick<Clock, 'after'>): Sharing {
  /** What the owner may have changed since: files with open credentials, and files that others cannot use. */
  const unchecked = { credentials: true, modes: true }
  const ownersFiles = createSteps()
  const writersFiles = createSteps()
  /** The most that anybody else who used the agent may do. */
  let others: TurnPlace['access'] = 'none'
  let cancelCheck = () => {}

  /** Checks ahead, so that the next turn of somebody else need not wait for it. A failure is repeated there. */
  function noteOwner(waitMs = calmMs) {
    unchecked.credentials = true
    unchecked.modes = true
    cancelCheck()
    if (others !== 'none')
      cancelCheck = clock.after(waitMs, () => void ownersFiles.next(() => prepareFor(others)).catch(() => {}))
  }

  async function prepareFor(access: TurnPlace['access']): Promise<void> {
    try {
      if (unchecked.credentials && access !== 'none') {
        unchecked.credentials = false
        await closeCredentials(home)
      }
      if (!unchecked.modes || access !== 'write') return
      unchecked.modes = false
      const { mode } = await lstat(home)
      if ((mode & 0o070) !== 0o070) await chmod(home, (mode & 0o7777) | 0o070)
      await run(identities, identities.developer, ownersScript, home)
    } catch (fault) {
      unchecked.credentials = true
      unchecked.modes = true
      throw fault
    }
  }

  return {
    async before({ isPrivate, access }) {
      if (isPrivate) {
        if (access === 'write' || others === 'none') others = access
        await ownersFiles.next(() => prepareFor(access))
      }
      await writersFiles.done()
    },
    async after(place) {
      if (!place.isPrivate) noteOwner(0)
      else if (place.access === 'write')
        await writersFiles.next(() => run(identities, place.user, writersScript, home))
    },
    noteOwner: () => noteOwner(),
  }
}

/** Runs steps one after another. */
function createSteps() {
  let last: Promise<void> = Promise.resolve()
  return {
    next(step: () => Promise<void>): Promise<void> {
      last = last.then(step, step)
      return last
    },
    done: () => last,
  }
}

/** Names that stay closed, as patterns of `find`. */
const closed = [
  '.env',
  '.env.*',
  '.mcp.json',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
]
const notClosed = closed.map((name) => `! -name '${name}'`).join(' ')
const adjust = `\\( -type d ! -perm -0070 -exec chmod g+rwx {} + \\) -o \\( -type f ! -perm -0060 ${notClosed} ! -iname '*credentials*' -exec chmod g+rwX {} + \\)`

/**
 * The owner's home is the workspace, so hidden entries may be private settings of tools. Only those of the
 * repository are shared.
 */
const ownersScript = `cd "$1" || exit
for entry in [!.]* .git .gitignore .gitattributes .github; do
  case $entry in shared-in | shared-out | credentials) continue ;; esac
  [ -e "$entry" ] && [ ! -L "$entry" ] && set -- "$@" "./$entry"
done
shift
[ $# = 0 ] || find "$@" -xdev -user "$(id -u)" \\( ${adjust} \\)`

const named = (names: string[]) => names.map((name) => `-name '${name}'`).join(' -o ')
const examples = named(['.env.example', '.env.sample', '.env.template', '.env.dist'])
const keys = ['*.crt', '*.cer', '*.der', 'service-account*.json', 'id_rsa', 'id_ecdsa', 'id_ed25519']
const isSecret = `-type f \\( ${named([...closed, ...keys])} -o -iname '*credentials*' \\) ! \\( ${examples} \\) ! -path '*/node_modules/*' ! -path '*/site-packages/*'`
const close = `\\( ! -group ${credentialsGroup} -exec chgrp -h ${credentialsGroup} {} + , ! -perm 0660 -exec chmod 0660 {} + , -true \\)`

/**
 * What this user has in the workspace is everybody's, except for credentials. Another turn may put a link in place of
 * a found entry: `chgrp -h` keeps that from opening this user's home.
 */
const writersScript = `cd "$1" || exit
[ -O credentials ] && [ ! -L credentials ] && { chgrp -h ${credentialsGroup} credentials; chmod 0770 credentials; }
find . -xdev \\( -path ./shared-in -o -path ./credentials -o -path ./.ssh -o -path ./.roost \\) -prune -o -user "$(id -u)" ! -type l \\( ${isSecret} ${close} -o \\( ! -group "$(id -g)" -exec chgrp -h "$(id -g)" {} + , ${adjust} \\) \\)`

function run(identities: Identities, user: ProcessUser, script: string, home: string): Promise<void> {
  const { command, args, options } = identities.as(user, '/bin/sh', ['-c', script, 'sh', home])
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      stdio: 'ignore',
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      timeout: limitMs,
    })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}
