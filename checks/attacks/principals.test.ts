/** Attacks of people who share one agent on each other, from inside their turns, through a real CLI. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../acceptance/platform.ts'
import { hidden, openTwoPeople, otherVisitor, owner, type Scene, visitor, writer } from './two-people.ts'

let scene: Scene
before(async () => {
  scene = await openTwoPeople('claude-code')
  await scene.turn(
    owner,
    'mkdir -p src credentials; echo shared > src/a.txt; echo TOKEN=of-the-owner > .env; echo k > credentials/k',
  )
})
after(() => scene?.[Symbol.asyncDispose]())

const id = async (principal: typeof owner) => Number.parseInt(await scene.turn(principal, 'id -u'), 10)

test('each person has an own user and an own home, and keeps them', async () => {
  assert.equal(await id(owner), 1000)
  const uids = [await id(writer), await id(visitor), await id(otherVisitor)]
  assert.equal(new Set(uids).size, 3)
  for (const uid of uids) assert.ok(uid > 20_000)
  assert.deepEqual([await id(writer), await id(visitor), await id(otherVisitor)], uids)
  assert.match(
    await scene.turn(visitor, 'stat -c "%a %u" $HOME; echo $TMPDIR; pwd'),
    new RegExp(`^700 ${uids[1]}\n/var/lib/roost/homes/${uids[1]}/`),
  )
})

/** Tries all attacks in one turn. Returns those that succeeded. */
async function successes(attacker: typeof owner, attacks: string[]): Promise<string[]> {
  const tries = attacks.map((attack, index) => `( ${attack} ) >/dev/null 2>&1 && echo success-${index};`)
  const output = await scene.turn(attacker, `${tries.join(' ')} echo tried`)
  assert.match(output, /tried/, output)
  return attacks.filter((_, index) => new RegExp(`success-${index}$`, 'm').test(output))
}

test('nobody reads, lists or changes the home of somebody else', async () => {
  const path = (await scene.turn(visitor, 'echo secret-of-one > $HOME/note; echo $HOME')).trim()
  assert.match(path, /^\/var\/lib\/roost\/homes\/\d+$/)
  const attacks = [
    `cat ${path}/note`,
    `ls ${path}`,
    `echo x > ${path}/x`,
    `mv ${path} ${path}x`,
    `chmod 777 ${path}`,
    'ls /var/lib/roost/homes',
    'ls /var/lib/roost/program',
    'cat /var/lib/roost/program/principals.json',
    'mv /var/lib/roost/program /var/lib/roost/x',
    'cat /var/lib/roost/keys/*',
  ]
  for (const attacker of [owner, writer, otherVisitor, hidden])
    assert.deepEqual(await successes(attacker, attacks), [], attacker.id)
  assert.deepEqual(
    await successes(visitor, attacks),
    attacks.filter((each) => /^(cat|ls) .*(note|\d)$|> |chmod/.test(each)),
  )
  for (const attacker of [writer, visitor, hidden])
    assert.deepEqual(
      await successes(attacker, [
        'ls /var/lib/roost/owner',
        'ls /var/lib/roost/ssh',
        'cat /home/developer/.ssh/*',
      ]),
      [],
    )
})

test('turns can neither signal, trace nor read the agent program', async () => {
  const program = '$(pgrep -of "^node .*agent/src/start.ts")'
  const files = ['environ', 'mem', 'maps', 'root/etc/passwd', 'fd/0', 'cwd/x'].map(
    (path) => `head -c 1 /proc/${program}/${path}`,
  )
  const signals = ['0', 'USR1', 'STOP', 'KILL', 'TERM'].map((signal) => `kill -${signal} ${program}`)
  const others = [
    'kill -KILL 1',
    `touch /opt/roost/x`,
    `echo 0 > /proc/${program}/oom_score_adj`,
    'sudo -n true',
  ]
  for (const attacker of [owner, writer, visitor]) {
    assert.deepEqual(await successes(attacker, [...files, ...signals, ...others]), [], attacker.id)
    const leaked = await scene.turn(
      attacker,
      `env; tr "\\0" "\\n" < /proc/${program}/environ; cat ~/.mcp.json /home/developer/.mcp.json`,
    )
    assert.doesNotMatch(leaked, new RegExp(scene.platform.key))
  }
  assert.match(await scene.turn(owner, 'echo alive'), /^alive/)
})

test('a reader sees the workspace, changes nothing in it and reads no credentials', async () => {
  assert.match(await scene.turn(visitor, 'cat src/a.txt'), /shared/)
  const attacks = [
    'echo x >> src/a.txt',
    'echo x > new',
    'rm -f src/a.txt',
    'mv src other',
    'chmod 777 src',
    'cat .env',
    'ls credentials',
    'cat credentials/k',
    'cat .mcp.json',
    'ls .ssh',
  ]
  assert.deepEqual(await successes(visitor, attacks), [])
  assert.doesNotMatch(await scene.turn(visitor, 'env'), /of-the-owner/)
  assert.match(await scene.turn(writer, 'env; cat credentials/k'), /of-the-owner[\s\S]*k/)
})

test("files of the owner's turn are closed or opened when it ends, not only before somebody else's next turn", async () => {
  for (const each of [visitor, writer]) await scene.turn(each, 'true')
  assert.match(
    await scene.turn(
      owner,
      'echo K=1 > .env.local; echo 1 > own; chmod 644 .env.local; chmod 600 own; echo made',
    ),
    /made/,
  )
  const modes = () => scene.inside('cd /home/developer && stat -c "%a %g" .env.local own')
  assert.match(await eventually(modes, (text) => text === '640 901\n660 1000'), /^640 901/)
})

test('what a reader sends with a message is no file of the workspace, and others do not find it', async () => {
  const content = Buffer.from('my diary')
  const attachments = [
    {
      name: 'diary.txt',
      mimetype: 'text/plain',
      size: content.length,
      data_base64: content.toString('base64'),
    },
  ]
  // Nobody can list the folders of turns, but command lines name them.
  const find = [
    "folders=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -ao '/tmp/roost-turns/[^/ ]*')",
    "find /home/developer /tmp /var/lib/roost $folders -name 'diary*' -exec cat {} + 2>/dev/null",
    'echo searched',
  ].join('; ')
  for (const sender of [visitor, hidden]) {
    assert.match(await scene.turn(sender, find, { attachments }), /my diary/, sender.id)
    for (const other of [owner, writer, otherVisitor])
      assert.doesNotMatch(await scene.turn(other, find), /my diary/, `${other.id} after ${sender.id}`)
  }
})

test('somebody without access sees nothing of the workspace', async () => {
  assert.match(await scene.turn(hidden, 'pwd'), /homes\/\d+/)
  const attacks = [
    'cat /home/developer/src/a.txt',
    'ls /home',
    'ls /home/developer',
    'cd /home/developer',
    'ls /proc/1/cwd/',
  ]
  assert.deepEqual(await successes(hidden, attacks), [])
})

test('files of two people stay usable for both, whatever modes their programs set', async () => {
  const make =
    'umask 077; mkdir -p w/deep; echo 1 > w/deep/f; cp -p w/deep/f w/copy; mv w/copy w/renamed; chmod 600 w/renamed; git init -q w/repo; cd w/repo; echo a > a; git add a; git commit -qm one && echo made'
  assert.match(await scene.turn(writer, make), /made/)
  const change =
    'cd w && echo 2 >> deep/f && echo 2 >> renamed && echo 3 > deep/g && mv deep moved && cd repo && echo b >> a && git -c user.name=o -c user.email=o@example.com commit -qam two && git gc -q && echo changed'
  assert.match(await scene.turn(owner, `umask 077; ${change}`), /changed/)
  assert.match(
    await scene.turn(
      writer,
      'echo 4 >> src/a.txt && echo 4 >> w/moved/g && cd w/repo && echo c >> a && git commit -qam three && git log --oneline | wc -l',
    ),
    /3/,
  )
})

test('conversations of two people at the same time stay apart and go on', async () => {
  const talk = async (principal: typeof owner, session_id: string, word: string) => {
    const chat = { kind: 'chat' as const, session_id }
    const first = await scene.result(principal, `remember ${word} [[reply:noted]]`, chat)
    const resume_session_id = first.runtime_session_id
    const own = await scene.result(principal, `[[recall:${word}]]`, { ...chat, resume_session_id })
    assert.equal(own.response, 'recall=yes', principal.id)
    return resume_session_id
  }
  const [hers, his] = await Promise.all([talk(visitor, 'one', 'HERON'), talk(otherVisitor, 'two', 'EGRET')])
  // Even with the id of her session he cannot go on with her conversation.
  const stolen = await scene.result(otherVisitor, '[[recall:HERON]]', {
    kind: 'chat',
    session_id: 'x',
    resume_session_id: hers,
  })
  assert.notEqual(stolen.response, 'recall=yes')
  assert.notEqual(hers, his)
})

test('a daemon that detached and cleared its environment ends with its turn', async () => {
  const daemon = (name: string) =>
    `cp /bin/sleep $HOME/${name} 2>/dev/null; (env -i setsid sh -c '$0/${name} 1000 & ' $HOME </dev/null >/dev/null 2>&1 &) ; sleep 0.2; pgrep -c ${name}`
  for (const [name, principal] of [
    ['own-daemon', owner],
    ['her-daemon', writer],
    ['his-daemon', visitor],
  ] as const) {
    assert.match(await scene.turn(principal, daemon(name)), /1/, name)
    await scene.turn(principal, 'true')
    assert.match(
      await scene.inside(`pgrep -f '[${name[0]}]${name.slice(1)}' || echo none`, 'developer'),
      /none/,
      name,
    )
  }
})

test('after a fork bomb the next turn works', async () => {
  for (const principal of [visitor, owner]) {
    const bomb = 'bomb() { bomb | bomb & }; bomb; sleep 2; echo over'
    await scene.result(principal, `[[tool:Bash:${bomb}]]`, { timeout_seconds: 20 })
    assert.match(await scene.turn(principal, 'echo works'), /works/, principal.id)
  }
})
