/** The list of processes shows every user the command lines of all others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRun } from '../../agent/src/test/platform.ts'
import { openTwoPeople, visitor } from './two-people.ts'

const secrets = [
  'PROMPT-of-somebody',
  'SYSTEM-of-somebody',
  'TOKEN-of-somebody',
  'KEY-of-somebody',
  'FILE-of-somebody',
  'PICTURE-of-somebody',
]
/** A PNG of 10 × 10 pixels, in base64. */
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC'

for (const runtime of ['claude-code', 'gemini-cli', 'codex'] as const)
  test(`${runtime}: no prompt, key, file or name of a picture is in a command line`, async () => {
    await using scene = await openTwoPeople(runtime)
    const [prompt = '', system_prompt = '', , key = '', file = ''] = secrets
    const run = aRun({
      ...scene.runDefaults('TOKEN-of-somebody'),
      principal: visitor,
      message: `${prompt} [[tool:Bash:sleep 4]]`,
      system_prompt,
      key,
      attachments: [
        {
          name: 'a.txt',
          mimetype: 'text/plain',
          size: 16,
          data_base64: Buffer.from(file).toString('base64'),
        },
        { name: 'PICTURE-of-somebody.png', mimetype: 'image/png', size: 78, data_base64: picture },
      ],
    })
    scene.platform.enqueue(run)
    const tool = await scene.platform.until(
      () => scene.platform.runs.get(run.execution_id)?.lines.find(({ type }) => type === 'assistant'),
      'the tool call',
    )
    assert.ok(tool)
    const all = await scene.inside('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "', 'roost-reader')
    assert.match(all, /start\.ts/)
    if (runtime === 'codex') assert.match(all, /--image=\S+\/image-1\.png /)
    for (const secret of secrets) assert.ok(!all.includes(secret), `${secret}: ${all}`)
    const ended = await scene.platform.result(run.execution_id)
    assert.equal(ended.status, 'success', ended.error ?? '')
  })
