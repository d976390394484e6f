import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { CancelRestore } from './cancel-restore.tsx'
import { restoresQuery } from './queries.ts'
import { restoreSentence } from './words.ts'

/** The restore of an agent that is not complete, by any owner or setting. Only for owners. */
export function OpenRestore({ agentName }: { agentName: string }) {
  const { data } = useQuery(restoresQuery(useApi(), agentName))
  const open = data?.restores.find(({ ended_at }) => ended_at === null)
  if (!open) return null
  return (
    <Banner
      title={open.run === null ? 'A restore is not complete' : 'A failed run is being undone'}
      action={open.state === 'waiting' && <CancelRestore agentName={agentName} restore={open.id} size="sm" />}
    >
      {restoreSentence(open)}
    </Banner>
  )
}
