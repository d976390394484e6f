import { createLazyRoute } from '@tanstack/react-router'
import { Fleet } from '../features/agents/fleet.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { Title } from '../ui/title.tsx'

const RunsOverTime = lazyPart(
  async () => (await import('../features/executions/runs-over-time.tsx')).RunsOverTime,
)

const BackupCard = lazyPart(async () => (await import('../features/backups/backup-card.tsx')).BackupCard)

export const route = createLazyRoute('/signed-in/')({
  component: Dashboard,
})

function Dashboard() {
  return (
    <>
      <Title of={['Agents']} />
      <Fleet Timeline={RunsOverTime} Backups={BackupCard} />
    </>
  )
}
