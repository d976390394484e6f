import type { ModelPrices } from '@roost/contracts/runs/model-prices'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Download, FileUp, Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { saveBlob } from '../../lib/save-blob.ts'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { ImportPricesDialog } from './import-prices-dialog.tsx'
import { priceColumns } from './price-columns.tsx'
import { isOutdated, priceRows, tableSources } from './price-rows.ts'
import { modelPricesQuery } from './queries.ts'
import { RemovePricesDialog } from './remove-prices-dialog.tsx'

/** The prices of models and their sources, and the import of a newer table. */
export function PricesTab() {
  const { data } = useSuspenseQuery(modelPricesQuery(useApi()))
  return (
    <div className="flex flex-col gap-8">
      <Sources prices={data} />
      <Prices prices={data} />
    </div>
  )
}

function Sources({ prices }: { prices: ModelPrices }) {
  const [open, setOpen] = useState<'import' | 'remove' | null>(null)
  const sources = tableSources(prices)
  const close = () => setOpen(null)
  return (
    <section aria-label="Price table">
      <CardHeader
        title="Price table"
        description="Roost computes the cost of each run with these prices, and spend caps act on that cost. A model without a row gets the price of its family, and its cost is marked with ≈."
        actions={
          <>
            <Button
              icon={<Download aria-hidden />}
              onClick={() => saveBlob(jsonOf(prices.built_in), 'roost-model-prices.json')}
            >
              Download built-in table
            </Button>
            {prices.custom && (
              <Button icon={<Trash2 aria-hidden />} onClick={() => setOpen('remove')}>
                Remove imported table…
              </Button>
            )}
            <Button icon={<FileUp aria-hidden />} variant="primary" onClick={() => setOpen('import')}>
              Import table…
            </Button>
          </>
        }
      />
      <ul className="divide-y divide-line rounded-lg border border-line text-sm">
        {sources.map((source) => (
          <li key={source.key} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-2.5">
            <span className="w-24 font-medium">{source.provider}</span>
            <Badge tone={source.isImported ? 'info' : 'neutral'}>
              {source.isImported ? 'Imported' : 'Built in'}
            </Badge>
            <span className="tabular-nums">
              As of {source.asOf} · {plural(source.models, 'model')}
            </span>
            {isOutdated(sources, source) && <Badge tone="warning">Older than the built-in table</Badge>}
            <span className="min-w-0 flex-1 basis-72 text-muted">{source.source}</span>
          </li>
        ))}
      </ul>
      <ImportPricesDialog isOpen={open === 'import'} custom={prices.custom} onClose={close} />
      <RemovePricesDialog isOpen={open === 'remove'} onClose={close} />
    </section>
  )
}

function Prices({ prices }: { prices: ModelPrices }) {
  const [q, setQ] = useState('')
  const all = useMemo(() => priceRows(prices), [prices])
  const rows = useMemo(() => {
    const text = q.trim().toLowerCase()
    return all.filter(({ model, provider }) => `${provider} ${model}`.includes(text))
  }, [all, q])
  return (
    <section aria-label="Prices">
      <CardHeader
        title="Prices in effect"
        description="US dollars per million tokens, standard tier. Long prompts, fast mode and searches have separate prices in the table."
        actions={<SearchInput label="Search models" value={q} onValueChange={setQ} />}
      />
      <DataTable
        label="Model prices"
        columns={priceColumns}
        rows={rows}
        rowKey={(row) => row.key}
        sort={null}
        empty={<EmptyState title="No model found" />}
      />
    </section>
  )
}

function jsonOf(table: unknown): Blob {
  return new Blob([`${JSON.stringify(table, null, 2)}\n`], { type: 'application/json' })
}
