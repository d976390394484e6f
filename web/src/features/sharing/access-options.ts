import type { ShareAccess, StrangersAccess } from '@roost/contracts/agents/agent'
import type { SelectOption } from '../../ui/select.tsx'

/** What the person, and turns that work for the person, may do with the files of the workspace. */
export const accessOptions = [
  { value: 'write', label: 'Read and write' },
  { value: 'read', label: 'Read only' },
] as const satisfies readonly SelectOption<ShareAccess>[]

export const strangersOptions = [
  { value: 'none', label: 'No access' },
  { value: 'read', label: 'Read only' },
  { value: 'write', label: 'Read and write' },
] as const satisfies readonly SelectOption<StrangersAccess>[]
