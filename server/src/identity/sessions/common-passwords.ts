import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const file = join(import.meta.dirname, 'common-passwords.txt')
/** Digits and symbols before and after a word that guessing programs try as a matter of course. */
const maxDecoration = 6

/**
 * True for a common password, for one with a few digits or symbols around it (`Password123!`), and for a repetition of
 * one (`dragondragon`). Reads the list each time: passwords are rarely set, and the list would cost memory for good.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const list = await readFile(file, 'utf8')
  return candidatesOf(password.normalize('NFKC').toLowerCase()).some((each) => list.includes(`\n${each}\n`))
}

function candidatesOf(password: string): string[] {
  const core = password.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const decorated = core !== '' && password.length - core.length <= maxDecoration ? [core] : []
  return [password, ...decorated].flatMap((each) => [each, unitOf(each)])
}

/** The shortest text whose repetition is this text; the text itself if there is no shorter one. */
function unitOf(text: string): string {
  const length = `${text}${text}`.indexOf(text, 1)
  return text.slice(0, length)
}
