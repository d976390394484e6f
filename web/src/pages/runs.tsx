import { createLazyRoute } from '@tanstack/react-router'
import { FleetExecutions } from '../features/executions/fleet-executions.tsx'
import { Page } from '../shell/page.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/runs')({ component: RunsPage })

function RunsPage() {
  return (
    <Page>
      <Title of={['Runs']} />
      <FleetExecutions />
    </Page>
  )
}
