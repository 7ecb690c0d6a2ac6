"""The embedded broker: as much of a Kafka broker as one machine needs, on append-only files. ``python -m streams.embedded``.

It speaks the wire protocol with aiokafka's own definitions of it, so that every Kafka client works with it unchanged. What it leaves
out: replication, transactions, security, compaction of files that are still growing.
"""
