/** Sample texts of agents and of attackers. */

export const hostile = `# Hello <script>window.harmed = true</script>

<script>window.harmed = true</script>
<img src=x onerror="window.harmed = true"> <svg onload="window.harmed = true"></svg>
<iframe srcdoc="<script>parent.harmed = true</script>"></iframe><style>* { display: none }</style>
<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">
<form action="https://evil.example/"><input name=a><button>Send</button></form>

[plain](javascript:window.harmed=true) [spelled](JaVaScRiPt:alert(1)) [blank]( javascript:alert(1))
[tab](java&Tab;script:alert(1)) [line](java&NewLine;script:alert(1)) [entity](&#106;avascript:alert(1))
[hex](&#x6A;avascript:alert(1)) [control](&#1;javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>)
[vb](vbscript:x) [blob](blob:https://a.example/x) [file](file:///etc/passwd) [user](https://roost.example@evil.example/)
<javascript:alert(1)> [ref] javascript:alert(1) [slashes](javascript://a.example/%0aalert(1))

[ref]: javascript:window.harmed=true "title"

![pixel](https://tracker.example/pixel.png?who=me) ![inline](data:image/png;base64,iVBORw0KGgo=) ![js](javascript:alert(1))
[![both](https://tracker.example/2.png)](javascript:alert(1))

[good](https://good.example/) [here](/agents) [mail](mailto:ann@a.example) https://auto.example/x [other](//evil.example/x)

| <b>a</b> | [x](javascript:alert(1)) |
|---|---|
| <img src=x onerror=alert(1)> | \`<script>\` |

- [x] done <input onfocus=alert(1) autofocus>
- [ ] not done

\`\`\`html
<script>window.harmed = true</script>
\`\`\`

The end.
`

/** An answer with every Markdown element, repeated up to about this length. */
export function answer(length: number): string {
  const part = (n: number) => `## Part ${n}: what I changed

I looked at **the scheduler** and _two_ of its callers; see \`next_run_at\` and [the docs](https://docs.example/cron).

1. Read the row, then *decide*.
2. Write it back:
   - with the old value in the condition
   - and nothing else

> The store referees races.
> Nobody else does.

\`\`\`ts
// The first caller claims the fire.
export async function claim(db: Db, id: string, dueAt: Date): Promise<boolean> {
  const { numUpdated } = await db.update('fires').set({ claimed: 1 }).where('id', id)
  return numUpdated === 1n
}
\`\`\`

| Case | Before | After |
|------|-------:|:-----:|
| two schedulers | 2 fires | **1 fire** |
| clock set back | 1 extra | none |

- [x] tests
- [ ] docs

---

`
  let text = ''
  for (let n = 1; text.length < length; n += 1) text += part(n)
  return text
}

/** A log of about this length with some colours and three needles. */
export function logText(length: number): string {
  const lines: string[] = []
  let size = 0
  for (let n = 1; size < length; n += 1) {
    const line = logLine(n)
    lines.push(line)
    size += line.length + 1
  }
  for (const place of [0.2, 0.5, 0.9]) {
    const index = Math.floor(lines.length * place)
    lines[index] = `${lines[index]} needle`
  }
  return lines.join('\n')
}

function logLine(n: number): string {
  const time = new Date(Date.UTC(2026, 0, 1) + n * 250).toISOString()
  if (n % 17 === 0) return `${time} \u001b[31;1mERROR\u001b[0m request ${n} failed: connection reset by peer`
  if (n % 11 === 0)
    return `${time} \u001b[33mWARN\u001b[0m  queue is at ${n % 100}% of its depth, ${'slow '.repeat(30)}`
  if (n % 7 === 0) return `${time} \u001b[2mdebug\u001b[0m  \u001b[36mpool\u001b[0m took ${n % 40} ms`
  return `${time} \u001b[32mINFO\u001b[0m  agent scout is ready, request ${n}`
}

/** Stored lines of a run: text, thinking, commands, edits, failures and a result. */
export function transcriptLines(count: number): object[] {
  const lines: object[] = []
  const at = (n: number) => ({ _n: n, _ts: new Date(Date.UTC(2026, 0, 1) + n * 1300).toISOString() })
  const says = (n: number, ...content: object[]) => ({
    ...at(n),
    type: 'assistant',
    message: { role: 'assistant', content },
  })
  for (let n = 1; n < count; n += 1) lines.push(transcriptLine(n, at(n), says))
  lines.push({
    ...at(count),
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'Done.',
    total_cost_usd: 0.0342,
    duration_ms: count * 1300,
    num_turns: 12,
    usage: { input_tokens: 120_400, output_tokens: 3120 },
    session_id: null,
  })
  return lines
}

type Says = (n: number, ...content: object[]) => object

function transcriptLine(n: number, at: object, says: Says): object {
  const call = (id: number, name: string, input: object) =>
    says(n, { type: 'tool_use', id: `t${id}`, name, input })
  const result = (id: number, content: string, isError = false) => ({
    ...at,
    type: 'user',
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${id}`, content, is_error: isError }],
    },
  })
  switch (n % 10) {
    case 1:
      return says(n, {
        type: 'text',
        text: `Step **${n}**: I look at \`src/clock.ts\` first.\n\n- then its tests\n- then the callers`,
      })
    case 2:
      return says(n, {
        type: 'thinking',
        thinking: 'The clock may go back.\nWhat then? A second fire must not happen.',
      })
    case 3:
      return call(n, 'Bash', {
        command: 'git diff --stat && node --test src/clock.test.ts',
        description: 'Run the tests',
      })
    case 4:
      return result(
        n - 1,
        Array.from({ length: 80 }, (_, line) => `ok ${line + 1} - fires once whatever the clock says`).join(
          '\n',
        ),
      )
    case 5:
      return call(n, 'Edit', {
        file_path: '/home/agent/src/clock.ts',
        old_string: 'function due(now) {\n  return row.next <= now\n}',
        new_string: 'function due(now) {\n  return row.next <= now && !row.claimed\n}',
      })
    case 6:
      return result(n - 1, 'String to replace was not found in the file.', true)
    case 7:
      return {
        ...at,
        type: 'system',
        subtype: 'notice',
        level: 'warning',
        message: 'The provider requested a delay. The turn then continued.',
      }
    case 8:
      return call(n, 'mcp__roost__list_agents', { filter: { tag: 'ops', running: true } })
    case 9:
      return result(n - 1, '{"agents":[{"name":"scout","status":"running"}]}')
    default:
      return { ...at, type: 'system', subtype: 'compact', before_tokens: 180_000, after_tokens: 24_000 }
  }
}
