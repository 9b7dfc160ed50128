module example.com/minimcp

go 1.25
