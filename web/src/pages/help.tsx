import { createLazyRoute, useLocation } from '@tanstack/react-router'
import { GuidePage } from '../features/help/guide-page.tsx'

export const route = createLazyRoute('/help/$')({ component: Help })

/** The guides. The address without a page leads to the start page. */
function Help() {
  const { _splat: path = '' } = route.useParams()
  const { q = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const { hash } = useLocation()
  const page = path.replace(/(\.md|\/)$/, '')
  return (
    <GuidePage
      page={page === '' ? 'README' : page}
      hash={hash}
      query={q}
      onQuery={(query) =>
        void navigate({ search: { q: query === '' ? undefined : query }, replace: true, resetScroll: false })
      }
    />
  )
}
