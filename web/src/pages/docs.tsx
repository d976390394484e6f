import { createLazyRoute } from '@tanstack/react-router'
import { ApiReference } from '../features/api-reference/api-reference.tsx'

export const route = createLazyRoute('/docs/{-$operation}')({ component: Docs })

/** The API reference. The address without an operation leads to the list of all. */
function Docs() {
  const { operation = null } = route.useParams()
  const { q = '' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <ApiReference
      operationId={operation}
      query={q}
      onQuery={(query) =>
        void navigate({ search: { q: query === '' ? undefined : query }, replace: true, resetScroll: false })
      }
    />
  )
}
