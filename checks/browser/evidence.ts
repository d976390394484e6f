/** Evidence of a failed test for a reviewer. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bench, pictures, type Tab } from './bench.ts'

/** The argument of `afterEach`. The types lack `passed`, which a test context has. */
export type Outcome = { fullName?: string; name: string; passed?: boolean }

/**
 * For `afterEach`: prints the address of each tab that a failed test left open, saves a screenshot in
 * `artifacts/screenshots/`, and closes it to isolate the following tests.
 */
export async function reportFailure(bench: Bench | undefined, outcome: Outcome): Promise<void> {
  if (outcome.passed || !bench) return
  const title = outcome.fullName ?? outcome.name
  for (const [index, tab] of [...bench.tabs].entries()) {
    const picture = join(pictures, `failed-${title.replaceAll(/[^\w]+/g, '-').slice(0, 80)}-${index}.png`)
    console.error(`--- tab ${index + 1} of the failed test "${title}"\n${await stateOf(tab)}`)
    try {
      await mkdir(pictures, { recursive: true })
      await tab.page.screenshot({ path: picture, timeout: 5000 })
      console.error(`picture: ${picture}`)
    } catch (error) {
      console.error(`no picture: ${String(error)}`)
    }
    await tab.context.close()
  }
}

async function stateOf({ page, faults, failures }: Tab): Promise<string> {
  // A page that hangs must not suppress the report.
  const text = await page
    .locator('body')
    .innerText({ timeout: 5000 })
    .catch((error: unknown) => `(not readable: ${String(error)})`)
  return [
    `address: ${page.url()}`,
    `faults: ${faults.join('\n  ') || 'none'}`,
    `failed requests: ${failures.join('\n  ') || 'none'}`,
    `text:\n${text.slice(0, 4000)}`,
  ].join('\n')
}
