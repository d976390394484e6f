import { bridgeMarker } from '../principals/tool-bridge.ts'
import type { Identities } from '../processes/identity.ts'
import { createProcessTree } from '../processes/tree.ts'
import type { Scratches } from './scratch.ts'

/** Cleans up after an earlier process of this program: kills the processes of its runs and deletes scratch folders. */
export async function clearLeftovers(
  executionIds: string[],
  scratches: Scratches,
  identities: Identities,
): Promise<void> {
  if (executionIds.length > 0) {
    const { developer, reader } = identities
    for (const user of (await identities.canSwitch()) ? [developer, reader] : [developer]) {
      const tree = createProcessTree(user, identities)
      for (const id of executionIds.flatMap((each) => [each, bridgeMarker(each)])) await tree.killMarked(id)
    }
  }
  await scratches.clear()
}
