import { existsSync } from 'node:fs'
import { type Checkout, CheckoutError } from '../machine/checkout.ts'

export type Target = {
  /** The commit that was checked out. */
  from: string
  commit: string
  version: string
  /** The tag, or the branch of the remote. */
  name: string
  /** Who signed it; null without a signature. */
  signer: string | null
}

export type FindTarget = {
  checkout: Checkout
  /** A tag; empty for the newest release. */
  tag: string
  /** True: the tip of the tracked branch, without a signature. */
  isBranch: boolean
  /** File with the keys that the operator trusts, in the format of ssh-keygen's allowed signers. */
  signers: string
}

/**
 * Fetches, and returns the verified version to upgrade to; null when it is already checked out. Throws
 * `CheckoutError` for an unknown signature, a downgrade and commits that the target lacks.
 */
export async function findTarget(options: FindTarget): Promise<Target | null> {
  const { checkout, isBranch } = options
  const head = await checkout.head()
  const found = isBranch ? await findBranch(checkout) : await findTag(options)
  if (found === null || found.commit === head) return null
  const target = { ...found, from: head }
  const current = await versionAt(checkout, head)
  if (compareVersions(target.version, current) < 0 || (await checkout.isAncestor(target.commit, head)))
    throw new CheckoutError(
      `${target.name} (${target.version}) is older than the running ${current}: a downgrade loses data. To go back, use \`./roost rollback\`.`,
    )
  if (!(await checkout.isAncestor(head, target.commit)))
    throw new CheckoutError(
      `${target.name} does not contain the commit ${head.slice(0, 12)} of this checkout. Rebase or drop your own commits first.`,
    )
  return target
}

type Found = Omit<Target, 'from'>

async function findBranch(checkout: Checkout): Promise<Found> {
  const name = await checkout.git('rev-parse', '--abbrev-ref', '--symbolic-full-name', '@{upstream}')
  const remote = name.split('/')[0] ?? 'origin'
  await checkout.git('fetch', '-q', '--no-tags', remote)
  const commit = await checkout.git('rev-parse', `refs/remotes/${name}^{commit}`)
  return { commit, name, version: await versionAt(checkout, commit), signer: null }
}

async function findTag({ checkout, tag, signers }: FindTarget): Promise<Found | null> {
  if (tag !== '' && !tagPattern.test(tag))
    throw new CheckoutError(`${tag} is not the tag of a release, such as v1.2.3.`)
  // A tag that changed at the remote is refused here: git replaces none without --force.
  await checkout.git('fetch', '-q', 'origin', 'refs/tags/v*:refs/tags/v*')
  const all = (await checkout.git('tag', '--list', 'v*')).split('\n').filter((name) => tagPattern.test(name))
  const releases = all.filter((name) => !name.includes('-')).sort((a, b) => compareVersions(a, b))
  const name = tag === '' ? releases.at(-1) : all.find((each) => each === tag)
  if (name === undefined) {
    if (tag === '') return null
    throw new CheckoutError(`The remote has no tag ${tag}.`)
  }
  // The id is verified and installed: a name can lead to another ref, or change meanwhile.
  const id = await checkout.git('rev-parse', `refs/tags/${name}`)
  const commit = await checkout.git('rev-parse', `${id}^{commit}`)
  if (commit === (await checkout.head())) return null
  const signer = await verify(checkout, { name, id }, signers)
  const version = await versionAt(checkout, commit)
  if (`v${version}` !== name)
    throw new CheckoutError(`The tag ${name} is on a commit of version ${version}: it is not its release.`)
  return { commit, name, version, signer }
}

const tagPattern = /^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

/** Returns who signed the tag. Only SSH signatures of the file's keys count. */
async function verify(
  checkout: Checkout,
  tag: { name: string; id: string },
  signers: string,
): Promise<string> {
  if (!existsSync(signers))
    throw new CheckoutError(
      `There is no key to verify ${tag.name} with. Write the maintainers’ public key into ${signers}, or use --branch.`,
    )
  const options = [`gpg.ssh.allowedSignersFile=${signers}`, 'gpg.format=ssh']
  // git would ask the user's keyring about other kinds of signatures.
  options.push('gpg.program=false', 'gpg.openpgp.program=false', 'gpg.x509.program=false')
  const configured = options.flatMap((option) => ['-c', option])
  const format = '--format=%(tag)'
  const signed = await checkout.git(...configured, 'verify-tag', format, tag.id).catch((cause: Error) => {
    throw new CheckoutError(`${tag.name} has no signature of a key in ${signers}, so it is not installed.`, {
      cause,
    })
  })
  // Otherwise an old signed tag could be offered under a new name.
  if (signed !== tag.name) throw new CheckoutError(`The signature of ${tag.name} is for the tag ${signed}.`)
  return signers
}

async function versionAt(checkout: Checkout, commit: string): Promise<string> {
  const text = await checkout.git('show', `${commit}:package.json`)
  const manifest: unknown = JSON.parse(text)
  const version = typeof manifest === 'object' && manifest && 'version' in manifest ? manifest.version : null
  if (typeof version === 'string') return version
  throw new CheckoutError(`The commit ${commit.slice(0, 12)} has no version in package.json.`)
}

/** By number; a pre-release is older than its release. */
export function compareVersions(a: string, b: string): number {
  const parts = (text: string) => {
    const [numbers = '', pre = ''] = text.replace(/^v/, '').split(/-(.*)/s)
    return { numbers: numbers.split('.').map(Number), pre }
  }
  const [left, right] = [parts(a), parts(b)]
  for (const [index, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (left.pre === right.pre) return 0
  if (left.pre === '' || right.pre === '') return left.pre === '' ? 1 : -1
  return left.pre.localeCompare(right.pre, 'en', { numeric: true })
}
