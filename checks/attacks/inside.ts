/** Shell commands that attack from inside a turn. Each one succeeds only if a wall is missing. */
import { gzipSync } from 'node:zlib'
import type { Person } from './everyone.ts'

/** What is known of somebody inside the agent. */
export type Inhabitant = { name: string; uid: number; home: string; mark: string }

export const workspace = '/home/developer'
/** Written by a turn of the owner, `made-by-a-writer.pem` by one of the sharer. */
export const credentialFiles = [
  '.env',
  'credentials/token',
  'deploy.pem',
  'made-by-a-writer.pem',
  '.mcp.json',
]

const onProcesses = (find: string) => {
  const some = (test: string) => `for p in $(${find}); do ${test} && exit; done; exit 1`
  return {
    signals: some('kill -0 $p'),
    'reads the environment of': some('grep -qa = /proc/$p/environ'),
    'reads the memory map of': some('grep -q . /proc/$p/maps'),
    'opens the memory of': some('(exec 3< /proc/$p/mem)'),
    'lists the open files of': some('ls /proc/$p/fd | grep -q .'),
    'enters the folder of': some('ls /proc/$p/cwd/'),
  }
}

const onHome = (home: string) => ({
  'reads the home of': `cat ${home}/note`,
  'lists the home of': `ls ${home}`,
  'writes to the home of': `echo x > ${home}/planted`,
  'plants settings in the home of': `mkdir -p ${home}/.claude && echo '{}' > ${home}/.claude/x.json`,
  'opens the home of': `chmod u+x ${home}`,
})

const named = (attacks: Record<string, string>, whom: string) =>
  Object.entries(attacks).map(([what, script]) => [`${what} ${whom}`, script] as const)

/** Attacks on a person. On oneself they succeed, which shows that the commands work. */
export function onPerson({ name, uid, home }: Inhabitant): (readonly [string, string])[] {
  return named({ ...onHome(home), ...onProcesses(`pgrep -u ${uid}`) }, name)
}

export const program = 'pgrep -of "node .*agent/src/start.ts"'

/** Nobody may do these, the owner included. */
export const onPlatform = [
  ...named(onProcesses(program), 'the agent program'),
  ['lists the homes', 'ls /var/lib/roost/homes'],
  ['lists the folder of the program', 'ls /var/lib/roost/program'],
  ['reads the map of users', 'cat /var/lib/roost/program/principals.json'],
  ['replaces the folder of the program', 'mv /var/lib/roost/program /var/lib/roost/x'],
  ['adds to the program', 'touch /opt/roost/planted'],
  ['becomes root', 'sudo -n true'],
] as const

export const reading = [
  ['reads the workspace', `cat ${workspace}/src/shared`],
  ['lists the workspace', `ls ${workspace}`],
  ['enters the workspace', `cd ${workspace}`],
] as const

/** `$$` keeps writers out of each other's way. */
export const writing = [
  ['appends to a file', `echo x >> ${workspace}/src/shared`],
  ['makes a file', `touch ${workspace}/made-$$`],
  ['makes a folder', `mkdir ${workspace}/src/made-$$`],
  ['renames a file', `cd ${workspace}/src && touch old-$$ && mv old-$$ new-$$`],
] as const

/** For those who may not write. A writer who did these would disturb the others. */
export const destroying = [
  ['deletes a file', `rm ${workspace}/src/shared`],
  ['renames a folder', `mv ${workspace}/src ${workspace}/other`],
  ['opens a folder', `chmod 777 ${workspace}/src`],
  ['plants a hook of git', `echo x > ${workspace}/.git/hooks/post-commit`],
  ['plants a program of the platform', `echo x > ${workspace}/.roost/pre-check`],
  ['replaces the platform’s folder', `mv ${workspace}/.roost ${workspace}/x`],
  [
    'plants settings of the runtime',
    `cd ${workspace} && for d in .claude .gemini .codex; do touch $d/x || mkdir $d && exit; done; exit 1`,
  ],
  ['plants a settings file', `echo x > ${workspace}/.mcp.json || echo x > ${workspace}/.env`],
] as const

export const stealing = credentialFiles.map((path) => [`reads ${path}`, `cat ${workspace}/${path}`] as const)

/** Everything that this person is able to do; the rest must fail. */
export function abilities({ access, credentials }: Pick<Person, 'access' | 'credentials'>) {
  const isWriter = access === 'owner' || access === 'write'
  return [
    ...(access === 'none' ? [] : reading),
    ...(isWriter ? writing : []),
    ...(credentials ? stealing : []),
  ]
}

/** The commands that this person tries, besides those on persons. */
export function attemptsOf({ access }: Pick<Person, 'access'>) {
  const isWriter = access === 'owner' || access === 'write'
  return [...onPlatform, ...reading, ...writing, ...stealing, ...(isWriter ? [] : destroying)]
}

/**
 * One line of shell that tries the commands: `+N` is printed for each success. `$(…)` and quotes survive, because the
 * script travels encoded.
 */
export function scriptOf(attempts: readonly (readonly [string, string])[], more = ''): string {
  const tries = attempts.map(
    ([, script], index) => `( ${script} ) >/dev/null 2>&1 </dev/null && echo +${index}+`,
  )
  return encoded([...tries, more].join('\n'))
}

export function encoded(script: string): string {
  return `echo ${gzipSync(script).toString('base64')} | base64 -d | gunzip | sh`
}

/** Names of the attempts that succeeded. */
export function successes(attempts: readonly (readonly [string, string])[], output: string): string[] {
  return attempts.filter((_, index) => output.includes(`+${index}+`)).map(([name]) => name)
}

/** Prints every run key that can be found, reversed: the platform hides keys in what turns print. */
export const findKeys = `{ for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f; done; grep -rhsa svc_mcp_ ${workspace} /var/lib/roost /tmp; } 2>/dev/null |
grep -aoE 'svc_mcp_[A-Za-z0-9_.-]{30,}' | sort -u | rev | sed 's/^/key /'`

/** Prints files and processes that hold one of these texts. They are not in a command line of this search. */
export const findMarks = (marks: string[]) => `marks() { ${marks.map((mark) => `echo ${mark}`).join('; ')}; }
marks | grep -rlsaF -f - ${workspace} /var/lib/roost /tmp | sed 's/^/mark /'
for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do marks | grep -qsaF -f - $f && echo mark $f; done`

/** Waits until this many persons' turns have come here, so that all of them are attacked while they run. */
export const meet = (count: number) => `echo here > /tmp/met-$(id -u)
tries=0
until [ "$(ls /tmp | grep -c '^met-')" -ge ${count} ] || [ $tries = 300 ]; do tries=$((tries+1)); sleep 0.3; done
[ $tries = 300 ] || echo met`
