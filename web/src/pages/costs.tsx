import { createLazyRoute } from '@tanstack/react-router'
import { CostsPage } from '../features/costs/costs.tsx'
import { Page } from '../shell/page.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/costs')({ component: Costs })

function Costs() {
  return (
    <Page>
      <Title of={['Costs']} />
      <CostsPage />
    </Page>
  )
}
