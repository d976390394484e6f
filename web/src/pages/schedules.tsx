import { createLazyRoute } from '@tanstack/react-router'
import { FleetSchedules } from '../features/schedules/fleet-schedules.tsx'
import { Page } from '../shell/page.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/schedules')({ component: SchedulesPage })

function SchedulesPage() {
  return (
    <Page>
      <Title of={['Schedules']} />
      <FleetSchedules />
    </Page>
  )
}
