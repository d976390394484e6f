/** The newest report alone, under the id `last`. */
export type FleetReportsTable = { id: string; report: string; written_at: string }
